import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { NamedChange } from "#server/db/schema-change";
import { migrations } from "#server/generated/migrations";
import { checksumFile } from "./migrations.ts";

export type Checksums = Readonly<Record<string, string>>;

/** Of the statements for both databases, however the file spells them and whatever they are put together from. */
export const checksumOf = (change: NamedChange): string =>
  createHash("sha256")
    .update(JSON.stringify([change.statements("sqlite"), change.statements("postgres")]))
    .digest("hex");

/**
 * The checksums with those of new migrations added, and what is wrong with migrations that have one: databases ran them
 * as they were, so an edited one would leave two schemas under one name.
 */
export function judgeMigrations(
  known: Checksums,
  changes: readonly NamedChange[],
): { checksums: Checksums; faults: string[] } {
  const checksums: Record<string, string> = { ...known };
  const last = Object.keys(known).toSorted().at(-1) ?? "";
  const faults: string[] = [];
  for (const change of changes) {
    const checksum = checksumOf(change);
    const landed = known[change.name];
    if (landed === undefined && change.name < last)
      faults.push(
        `migration ${change.name} is new and would run before ${last}, which has landed: give it a later time`,
      );
    if (landed !== undefined && landed !== checksum) faults.push(`migration ${change.name} ${edited}`);
    checksums[change.name] ??= checksum;
  }
  const present = new Set(changes.map(({ name }) => name));
  for (const name of Object.keys(known))
    if (!present.has(name))
      faults.push(`migration ${name} has landed and its file is gone: databases that ran it would not start`);
  return { checksums, faults };
}

const edited =
  `has landed and was edited: databases that ran it keep what it was. Undo the edit and write a new migration. ` +
  `(Only while it has not landed anywhere: remove its line from ${checksumFile} and run npm run gen.)`;

export const landedChecksums = (): Checksums => {
  try {
    return JSON.parse(readFileSync(checksumFile, "utf8")) as Checksums;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
};

/** Text of the checksum file as it should be. */
export function takeChecksums(): { checksums: string; faults: string[] } {
  const { checksums, faults } = judgeMigrations(landedChecksums(), migrations);
  const inOrder = Object.fromEntries(Object.entries(checksums).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { checksums: `${JSON.stringify(inOrder, null, 2)}\n`, faults };
}
