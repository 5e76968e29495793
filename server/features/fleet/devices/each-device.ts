import type { Kysely } from "kysely";
import type { Database } from "#server/db/tables";

const PAGE = 500;

export interface OwnedDevice {
  readonly id: string;
  readonly orgId: string;
}

/** Every device of the installation, one after the other, in the order of their ids. */
export async function* eachDevice(db: Kysely<Database>): AsyncGenerator<OwnedDevice> {
  for (let last: string | undefined = ""; last !== undefined; ) {
    let page = db.selectFrom("devices").select(["id", "orgId"]).orderBy("id").limit(PAGE);
    if (last !== "") page = page.where("id", ">", last);
    const devices: OwnedDevice[] = await page.execute();
    yield* devices;
    last = devices.at(-1)?.id;
  }
}
