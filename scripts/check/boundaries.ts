import { type Room, rooms } from "./rules.ts";
import { type Import, importsOf, isTest, type Source, sources } from "./sources.ts";

/** Imports that `rules.ts` does not list, entries that no file uses, and unscoped database access outside its room. */
export async function boundaryFaults(): Promise<string[]> {
  const files = sources({ generated: true }).filter(({ path }) => !isTest(path));
  return [...importFaults(rooms, files), ...files.flatMap(unscopedFaults)];
}

/** Compares the rules with the imports of the files, in both directions. */
export function importFaults(known: readonly Room[], files: readonly Source[]): string[] {
  const used = new Map<Room, Set<string>>(known.map((room) => [room, new Set()]));
  const faults = files.flatMap((source) => {
    const room = roomOf(known, source.path);
    if (room === undefined) return [`${source.path} belongs to no room of scripts/check/rules.ts`];
    return importsOf(source).flatMap((one) => {
      if (!one.inTree) return packageFault(room, one);
      if (isTest(one.to)) return [`${one.from} imports a test: ${one.to}`];
      if (room.imports === "everything" || roomOf(known, one.to) === room) return [];
      return importFault(room.imports, one, used.get(room) as Set<string>);
    });
  });
  const unused = known.flatMap((room) => {
    if (room.imports === "everything") return [];
    const gone = room.imports.filter((entry) => !used.get(room)?.has(entry));
    return gone.map((entry) => `${room.paths[0]} imports ${entry} no more: take it off scripts/check/rules.ts`);
  });
  return [...faults, ...unused];
}

const covers = (entry: string, path: string): boolean =>
  entry.endsWith("/") ? path.startsWith(entry) : path === entry;

const roomOf = (known: readonly Room[], path: string): Room | undefined =>
  known.find(({ paths }) => paths.some((entry) => covers(entry, path)));

function packageFault({ packages }: Room, { from, to }: Import): string[] {
  if (packages === undefined) return [];
  const may = packages.some((name) => to === name || (name.endsWith(":") && to.startsWith(name)));
  return may ? [] : [`${from} imports the package ${to}: its room imports ${packages.join(", ")} alone`];
}

function importFault(imports: readonly string[], { from, to }: Import, used: Set<string>): string[] {
  const entry = imports.filter((one) => covers(one, to)).toSorted((a, b) => b.length - a.length)[0];
  if (entry === undefined) return [`${from} imports ${to}: its room does not import that (scripts/check/rules.ts)`];
  used.add(entry);
  return [];
}

/**
 * Raw SQL and handles without the tenant scope exist in the database room only
 * (server/README.md, "Five locks on tenancy").
 */
function unscopedFaults({ path, text }: Source): string[] {
  const inside = /^server\/(db|audit)\//.test(path);
  if (!path.startsWith("server/") || inside) return [];
  const faults: string[] = [];
  if (/\bsql(<[^>]*>)?`|\bsql\.raw\b|import\s*\{[^}]*\bsql\b[^}]*\}\s*from "kysely"/.test(text))
    faults.push(`${path} writes raw SQL`);
  if (/withoutPlugins\(/.test(text)) faults.push(`${path} drops the tenant scope`);
  if (/\.connection\(/.test(text)) faults.push(`${path} opens an unscoped connection`);
  if (path !== "server/config.ts" && /process\.env/.test(text))
    faults.push(`${path} reads the environment; only config.ts does`);
  return faults;
}
