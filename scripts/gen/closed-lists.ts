import { type Noun, nounOf } from "#contract/core/endpoint";
import { contract } from "#contract/index";
import { banner } from "./text.ts";

/** What the nouns declare and types are made of: kinds of rows, and audit actions. */
export function closedLists(nouns: readonly Noun[] = Object.values(contract).map(nounOf)): Map<string, string> {
  const [kinds, awaited] = [declaredOnce(nouns, "kinds"), declaredOnce(nouns, "awaits")];
  for (const [kind, noun] of awaited)
    if (kinds.has(kind)) throw new Error(`${noun.name} awaits ${kind}, which ${kinds.get(kind)?.name} has now`);
  const actions = new Set(nouns.flatMap(({ audits }) => audits));
  return new Map([
    [
      "sdk/contract/core/generated/refs.ts",
      [
        banner,
        "/** What an id can name, and the noun that lists such rows. */",
        "export const refs = {",
        ...[...kinds].map(([kind, noun]) => `  "${kind}": "${noun.name}",`),
        "} as const;",
        "",
        "/** What an id can name before there are such rows, and why there are none. */",
        "export const awaited = {",
        ...[...awaited].map(([kind, noun]) => `  "${kind}": ${JSON.stringify(noun.awaits?.[kind])},`),
        "} as const;",
        "",
        "export type RefName = keyof typeof refs | keyof typeof awaited;",
        "",
      ].join("\n"),
    ],
    [
      "sdk/contract/core/generated/audit-actions.ts",
      [
        banner,
        '/** Every audit action. Closed list (docs/audit.md, "Which requests are recorded"). */',
        "export const auditActions = [",
        ...[...actions].map((action) => `  "${action}",`),
        "] as const;",
        "",
        "export type AuditAction = (typeof auditActions)[number];",
        "",
      ].join("\n"),
    ],
  ]);
}

/** Each kind with the one noun that declares it. */
function declaredOnce(nouns: readonly Noun[], list: "kinds" | "awaits"): Map<string, Noun> {
  const found = new Map<string, Noun>();
  for (const noun of nouns)
    for (const kind of Object.keys(noun[list] ?? {})) {
      const other = found.get(kind);
      if (other) throw new Error(`${kind} is declared by ${other.name} and by ${noun.name}`);
      found.set(kind, noun);
    }
  return found;
}
