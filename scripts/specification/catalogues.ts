import type { Document } from "./documents.ts";

/** The closed lists that the contract keeps for all its resources. */
export interface Catalogues {
  readonly permissions: readonly string[];
  /** Built-in role → its grants; roles that hold everything hold `*:*`. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** Code → status and public message; an item of a bulk call that answers 200 has that status; message null: no fixed text. */
  readonly errors: Readonly<Record<string, { readonly status: number; readonly message: string | null }>>;
  readonly auditActions: readonly string[];
  readonly eventKinds: readonly string[];
}

export function cataloguesOf(texts: readonly Document[]): Catalogues {
  const contract = (number: number) => {
    const found = texts.find((text) => text.kind === "contract" && text.number === number);
    if (!found) throw new Error(`there is no contract document ${number}`);
    return found.lines;
  };
  return {
    ...permissionsOf(section(contract(1), /^### A4 /)),
    errors: errorsOf(section(contract(1), /^### A5 /)),
    auditActions: actionsOf(section(contract(4), /^### 8\.4 /)),
    eventKinds: kindsOf(section(contract(3), /^### 11\.2 /)),
  };
}

/** The lines below a heading, up to the next one. */
function section(lines: readonly string[], heading: RegExp): string[] {
  const start = lines.findIndex((line) => heading.test(line));
  if (start < 0) throw new Error(`no heading matches ${heading}`);
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#/.test(line));
  return rest.slice(0, end < 0 ? undefined : end);
}

const cells = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

function permissionsOf(lines: readonly string[]): Pick<Catalogues, "permissions" | "roles"> {
  const [head, , ...rows] = lines.filter((line) => line.startsWith("|")).map(cells);
  const names = (head as string[]).slice(2);
  const roles: Record<string, string[]> = Object.fromEntries(names.map((name) => [name, []]));
  const permissions: string[] = [];
  for (const [resource, actionList, ...held] of rows) {
    const actions = (actionList as string).split(", ");
    permissions.push(...actions.map((action) => `${resource}:${action}`));
    for (const [index, cell] of held.entries()) {
      const letters =
        cell === "all" ? actions : cell === "–" ? [] : cell.split(" ").map((letter) => whole(letter, actions));
      roles[names[index] as string]?.push(...letters.map((action) => `${resource}:${action}`));
    }
  }
  const text = lines.join("\n");
  for (const [, name] of text.matchAll(/(System Admin|Partner Admin)(?= \(`isPlatformAdmin`\)| hold `\*:\*`)/g))
    roles[name as string] = ["*:*"];
  return { permissions, roles };
}

function whole(letter: string, actions: readonly string[]): string {
  const found = actions.filter((action) => action.startsWith(letter));
  if (found.length !== 1) throw new Error(`"${letter}" names ${found.length} of ${actions.join(", ")}`);
  return found[0] as string;
}

function errorsOf(lines: readonly string[]): Catalogues["errors"] {
  const errors: Record<string, { status: number; message: string | null }> = {};
  for (const [status, list] of lines.filter((line) => /^\| (\d{3}|item) \|/.test(line)).map(cells)) {
    for (const entry of (list as string).split(" · ")) {
      const parsed =
        /^((?:[A-Z][A-Z_]+|[a-z]+(?:[-_][a-z]+)+)(?:, (?:[A-Z][A-Z_]+|[a-z]+(?:[-_][a-z]+)+))*)( .*)?$/.exec(entry);
      if (!parsed) throw new Error(`not an error code: ${entry}`);
      for (const code of (parsed[1] as string).split(", "))
        errors[code] = { status: Number(status) || 200, message: messageOf(code, parsed[2]) };
    }
  }
  return errors;
}

const acronyms = new Set(["MFA", "PSA", "SSO", "OIDC", "TTL", "PAM", "URL", "API", "MAC"]);

/** A code without a text of its own reads as itself in sentence case; a remark in brackets is none. */
function messageOf(code: string, text: string | undefined): string | null {
  if (text === " the joined messages") return null;
  // `: x` stands for what differs from case to case.
  const own = text
    ?.trim()
    .replace(/: x$/, "")
    .replace(/ ?\((to agents .*?|with `.*?|or: .*?)\)/g, "")
    .trim();
  if (own) return own;
  const words = code.split(/[-_]/).map((word) => {
    if (acronyms.has(word)) return word;
    return word === "ORG" ? "organization" : word === "ORGS" ? "organizations" : word.toLowerCase();
  });
  const sentence = words.join(" ");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function actionsOf(lines: readonly string[]): string[] {
  const rows = lines.filter((line) => /^\| [a-z]/.test(line)).map((line) => cells(line)[0] as string);
  return [...new Set(rows.flatMap((row) => row.split(" · ").flatMap(expanded)))];
}

/** `site.{CUD}` → create, update and delete of a site; `a.{b,c}` → `a.b` and `a.c`. */
function expanded(text: string): string[] {
  const [, stem, list] = /^([a-z_.]*)\{([^}]*)\}$/.exec(text.trim()) ?? [];
  const names = list === undefined ? [text.trim()] : list.split(",").map((name) => `${stem}${name}`);
  return names.flatMap((name) =>
    name.endsWith("CUD") ? ["create", "update", "delete"].map((verb) => name.replace(/CUD$/, verb)) : [name],
  );
}

function kindsOf(lines: readonly string[]): string[] {
  const list = lines.find((line) => line.startsWith("device.{")) ?? "";
  return list
    .replace(/\([^)]*\)/g, "")
    .replace(/\.$/, "")
    .split(" · ")
    .flatMap((entry) => expanded(entry.trim()));
}
