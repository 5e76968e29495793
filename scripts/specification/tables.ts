import type { Document } from "./documents.ts";
import type { Statement } from "./readings/reading.ts";

type Tabled = [string, Partial<Statement>];

const linesOf = (texts: readonly Document[], kind: Document["kind"], number: number) =>
  texts.find((text) => text.kind === kind && text.number === number)?.lines ?? [];
const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The exports of the partner API, one per row, with the scope a key needs. */
export function exportsOf(texts: readonly Document[]): Tabled[] {
  return linesOf(texts, "contract", 4).flatMap((line) => {
    const [, path, scope] = /^\| (\/[a-z-]+) ([a-z-]+:read) \|/.exec(line) ?? [];
    return path && scope ? [[`GET /partner-api${path}`, { kinds: ["partnerKey"], keyScopes: [scope] }] as Tabled] : [];
  });
}

/** The live tools of a device: `| number | METHOD /path | query or body | command | audit action |`. */
export function liveToolsOf(texts: readonly Document[]): Tabled[] {
  return linesOf(texts, "contract", 3).flatMap((line) => {
    const [, method, path] = /^\| \d+ \| ([A-Z]+) (\/\S+) \|/.exec(line) ?? [];
    if (!method || !path) return [];
    const action = /^[a-z_.]+/.exec(cellsOf(line)[4] ?? "")?.[0];
    return [[`${method} /system-tools/devices/:deviceId${path}`, action ? { audit: [action] } : {}] as Tabled];
  });
}

/** One row of the specification's own tables of endpoints. */
interface Row {
  readonly endpoint: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** Where what was built contradicts a table of the specification, which wins. */
export function specificationFaults(
  texts: readonly Document[],
  endpoints: readonly (Statement & { readonly method: string; readonly path: string })[],
): string[] {
  const built = new Map(endpoints.map((entry) => [`${entry.method} ${entry.path}`, entry]));
  const rows = texts.filter(({ kind }) => kind === "specification").flatMap(({ lines }) => rowsOf(lines));
  if (rows.length < 100) return [`only ${rows.length} rows of the specification's tables were read`];
  return rows.flatMap(({ endpoint, columns }) => {
    const entry = built.get(endpoint);
    if (!entry) return [`the specification's tables name ${endpoint}, its list does not`];
    return contradictions(columns, entry).map((fault) => `${endpoint}: ${fault}`);
  });
}

/** Conditions that a table states of a part of an endpoint only. */
const partial = /\?deleted=only/;

function contradictions(columns: Readonly<Record<string, string>>, entry: Statement): string[] {
  if (partial.test(columns["Path"] ?? "")) return [];
  const text = ["Permission", "Scope", "Description", "Payload"].map((name) => columns[name] ?? "").join(" | ");
  const held = [...(entry.permissions ?? []).flatMap((one) => one.split("|")), ...entry.keyScopes];
  const wanted = [...text.matchAll(/\b[a-z-]+:(?:read|write|execute|manage|approve|manage_policy)\b/g)].map(
    ([name]) => name,
  );
  const faults = wanted.filter((name) => !held.includes(name)).map((name) => `the specification names ${name}`);
  const marked = columns["MFA"] === "yes" || /\bMFA\b/.test(`${columns["Permission"]} ${columns["Scope"]}`);
  if (marked && !entry.mfa) faults.push("the specification asks for MFA");
  if (columns["MFA"] === "no" && entry.mfa) faults.push("the specification asks for no MFA");
  const scopes = ["organization", "partner", "system"].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(columns["Scope"] ?? ""),
  );
  if (scopes.length > 0 && scopes.join() !== entry.scopes.join())
    faults.push(`the specification allows ${scopes.join(", ")}`);
  return faults;
}

function rowsOf(lines: readonly string[]): Row[] {
  let head: string[] = [];
  return lines.flatMap((line) => {
    if (!line.startsWith("|")) head = [];
    else if (head.length === 0) head = cellsOf(line);
    const cells = cellsOf(line);
    const at = head.indexOf("Path");
    if (at < 0 || !/^[A-Z]{3,}(, [A-Z]+)*$/.test(cells[0] ?? "")) return [];
    const columns = Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""]));
    return (cells[0] as string)
      .split(", ")
      .flatMap((method) => pathsOf(cells[at] as string).map((path) => ({ endpoint: `${method} ${path}`, columns })));
  });
}

/** `/partner-api/scripts, /custom-fields` names the second below the prefix of the first. */
function pathsOf(cell: string): string[] {
  const paths = [...cell.replace(/\([^)]*\)/g, "").matchAll(/\/[^\s,?]+/g)].map(([path]) =>
    path.replace(/^\/api\/v1/, ""),
  );
  const prefix = /^\/partner-api/.exec(paths[0] ?? "")?.[0];
  return paths.map((path) => (prefix && !path.startsWith(prefix) ? `${prefix}${path}` : path));
}
