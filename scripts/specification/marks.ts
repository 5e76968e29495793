/** What the marks beside an endpoint say; what they leave out comes from the rule of its section. */
export interface Marks {
  readonly kinds?: readonly string[];
  readonly scopes?: readonly string[];
  readonly permissions: readonly string[];
  readonly keyScopes: readonly string[];
  readonly mfa: boolean;
  readonly fullPartner: boolean;
  /** Words of a bracket that are no marks: somebody has to read them. */
  readonly unread: string;
}

const scopeOf: Readonly<Record<string, string>> = { O: "organization", P: "partner", S: "system" };
const kindOf: Readonly<Record<string, string>> = {
  U: "user",
  user: "user",
  public: "public",
  "—": "public",
  A: "agent",
};
const permission = /^([a-z_-]+:[a-z_]+)(!?)$/;
const joins = new Set(["and", "+"]);

/**
 * The marks at the head of a definition, `"same"` where it points to the one before, undefined where it has none.
 * Each document marks in its own way: 1 writes `— P,S, organizations:read, M`, 2 `— P devices:execute!`,
 * 3 `— U · permission`, 4 `[PS billing:manage M]` or `(billing:manage)`.
 */
export function marksOf(document: number, text: string): Marks | "same" | undefined {
  if (/^ — same\b(?! Q)/.test(text)) return "same";
  if (document === 1) return words(/^ — ([^`·→;(]*)/.exec(text)?.[1]);
  if (document === 2) return words(/^ — (?:P ([^`·]*)|(MFA)\b)/.exec(text)?.slice(1).find(Boolean));
  if (document === 3) return words(/^ — (A\b|U · `[a-z_]+:[a-z_]+`|public\b)/.exec(text)?.[1]?.replace(/[`·]/g, ""));
  const bracket = /^(?: —)? \[([^\]]*)\]/.exec(text)?.[1] ?? /^[^(·]{0,60}?\(([a-z]+:[a-z_][^)]*)\)/.exec(text)?.[1];
  if (bracket !== undefined) return words(bracket, true);
  return words(/^ — ([a-z]+:[a-z_]+) ·/.exec(text)?.[1]);
}

function words(text: string | undefined, whole = false): Marks | undefined {
  if (text === undefined) return undefined;
  const kinds: string[] = [];
  const scopes: string[] = [];
  const permissions: string[] = [];
  const keyScopes: string[] = [];
  const flags = new Set<string>();
  const all = text.trim().split(/[\s,]+/);
  let read = 0;
  for (; read < all.length; read++) {
    const word = (all[read] as string).replace(/[.;:]$/, "");
    const granted = permission.exec(word);
    if (granted) {
      (flags.has("SP") ? keyScopes : permissions).push(granted[1] as string);
      if (granted[2]) flags.add("M");
    } else if (kindOf[word]) kinds.push(kindOf[word] as string);
    else if (/^[OPS]{1,3}$/.test(word) && word !== "SP")
      scopes.push(...[...word].map((letter) => scopeOf[letter] as string));
    else if (["M", "W", "SP", "MFA"].includes(word)) flags.add(word);
    else if (!joins.has(word)) break;
    if (/[.;]$/.test(all[read] as string)) {
      read++;
      break;
    }
  }
  if (read === 0) return undefined;
  if (flags.has("SP")) kinds.push("partnerKey");
  return {
    ...(kinds.length > 0 ? { kinds } : {}),
    ...(scopes.length > 0 ? { scopes } : {}),
    permissions,
    keyScopes,
    mfa: flags.has("M") || flags.has("MFA"),
    fullPartner: flags.has("W"),
    unread: whole ? all.slice(read).join(" ") : "",
  };
}
