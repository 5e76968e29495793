import { asSystem, type Exit } from "#server/db/as-system";

/** More than one page of either engine, so that a full disk cannot take it out of what is allocated already. */
const SIZE = 12_000;

/** Writes a row and takes it away again, in one transaction that commits. Rejects with the error of the database. */
export async function probeWrites(exit: Exit, id: string): Promise<void> {
  const name = `probe ${id}`;
  await asSystem(exit, "report health")
    .transaction()
    .execute(async (tx) => {
      const holder = id.repeat(Math.ceil(SIZE / id.length));
      await tx.insertInto("leases").values({ name, holder, expiresAt: "1970-01-01T00:00:00.000Z" }).execute();
      await tx.deleteFrom("leases").where("name", "=", name).execute();
    });
}
