import { areas } from "#contract/areas";
import { list } from "./tree.ts";

const folder = "server/db/migrations";
export const checksumFile = `${folder}/checksums.json`;

/** Migrations that are older than the rule to name them by time. */
const numbered = /^00(0\d|1[01])-[a-z-]+$/;
const timed = new RegExp(
  `^20\\d{2}(0[1-9]|1[0-2])([0-2]\\d|3[01])([01]\\d|2[0-3])[0-5]\\d-(${Object.keys(areas).join("|")})-[a-z0-9-]+$`,
);

/** Names of the migrations in the order in which they run; what does not begin with a digit helps one of them. */
export const migrationNames = (): string[] =>
  list(folder)
    .filter((name) => /^\d.*\.ts$/.test(name) && !name.endsWith(".test.ts"))
    .map((name) => name.slice(0, -".ts".length));

/** Files whose names give no order or no area. */
export const misnamedMigrations = (names: readonly string[] = migrationNames()): string[] =>
  names
    .filter((name) => !numbered.test(name) && !timed.test(name))
    .map((name) => `${folder}/${name}.ts is to be called YYYYMMDDHHMM-<area>-<what>.ts`);

/** Time in the name of a new migration: this minute, or the one after the last migration where that lies ahead. */
export function newStamp(now: Date, names: readonly string[] = migrationNames()): string {
  const last = names
    .toSorted()
    .at(-1)
    ?.match(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)-/);
  if (!last) return stampOf(now);
  const [year, month, day, hour, minute] = last.slice(1).map(Number) as [number, number, number, number, number];
  const next = new Date(Date.UTC(year, month - 1, day, hour, minute + 1));
  return stampOf(next > now ? next : now);
}

const stampOf = (time: Date): string => time.toISOString().replaceAll(/\D/g, "").slice(0, 12);

/** Each migration under the name of its file. */
export function migrationTable(banner: string): string {
  const names = migrationNames();
  return [
    banner,
    'import type { NamedChange } from "../db/schema-change.ts";',
    ...names.map((name, index) => `import { migration as m${index} } from "../db/migrations/${name}.ts";`),
    "",
    "/** In order. A migration that has landed is never edited (`db/migrations/checksums.json`); a change is a new file. */",
    "export const migrations: readonly NamedChange[] = [",
    ...names.map((name, index) => `  { name: "${name}", ...m${index} },`),
    "];",
    "",
  ].join("\n");
}
