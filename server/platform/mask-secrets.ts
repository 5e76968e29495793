/**
 * Secrets in texts that machines write: command lines, configuration, headers, keys. Every pattern consumes what it looks
 * at, so that a text is gone through once however it is made.
 */

export const MASK = "********";

const names = `passwords?|passwd|passphrase|pwd|secrets?|tokens?|credentials?|authorization|cookie|api[_-]?key|access[_-]?key|private[_-]?key|signature|sharedkey|accountkey`;

/** Names that end so: `DB_PASS`, `rootpass`, `ENCRYPTION_KEY`, `hostKey`; what is not secret is left out. */
const passEnding = "(?<!by|com|sur|tres|over|under)pass";
const keyEnding = String.raw`(?<=[\w.-])(?<!(?:public|primary|foreign|registry|partition|cache|sort|sub|hot|mon|tur)[_.-]?)key`;

/** Quoted as in JSON within JSON, quoted, or up to the next blank or sign that ends a value. */
const value = String.raw`(?:\\+"(?:[^"\\]|\\(?!"))*(?:\\+")?|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|(?:Bearer|Basic|Digest|Negotiate|NTLM)\s{1,4}[^\s"',;<>]+|[^\s"',;&<>)}\]]+)`;

/** Flags of programs that take a secret: `--password x`, `-Token x`, `/rp x`, `/p:x`. */
const flags = String.raw`(?:-{1,2}|\/)(?:${names}|pass|pw|rp|sas|apikey)`;

/** Consumed to its end whether it is a token or not: looked for from each part of a long word, one would be quadratic. */
const jwt = /\beyJ[\w-]{8,}(\.[\w-]{8,}(?:\.[\w-]*)?)?/g;

/** `Password`, `db:Password`, `DbPass`: the name of an element, or the value of an attribute that names. */
const marked = String.raw`[\w:.-]{0,40}?(?:${names}|${passEnding}(?![a-z])|${keyEnding}(?![a-z]))[\w:.-]{0,40}`;
const named = String.raw`\b(?:key|name|id)\s{0,4}=\s{0,4}\\{0,4}["']${marked}\\{0,4}["']`;
const valueIs = String.raw`\bvalue\s{0,4}=\s{0,4}\\{0,4}["']`;
const within = "[^<>]{0,200}?";
/** `<Data Name="Password">`, `<Password>`, `<key>Token</key><string>`, each also before one more tag, as in `<Password><Value>`. */
const opened = String.raw`(?:<[\w:.-]{1,40}\s${within}${named}${within}|<${marked}(?:\s${within})?|<(key|name)>${marked}<\/\2>\s{0,40}<\w{1,40})>(?:\s{0,40}<[\w:.-]{1,40}>)?`;
const cdata = String.raw`\s{0,40}<!\[CDATA\[(?:[^\]]|\](?!\]>))*`;

/** XML of configuration, answer files and events. An element is masked up to the next tag, CDATA to its end. */
const markup: readonly (readonly [RegExp, string])[] = [
  // `<add key="Password" value="x"/>`, `<add value="x" key="Password"/>`
  [new RegExp(`(${named}${within}${valueIs})[^"'<>]*`, "gi"), `$1${MASK}`],
  [new RegExp(String.raw`(${valueIs})[^"'<>]*(["']\s${within}${named})`, "gi"), `$1${MASK}$2`],
  [new RegExp(`(${opened})(?:${cdata}|[^<]+)`, "gi"), `$1${MASK}`],
];

const patterns: readonly (readonly [RegExp, string | ((found: string, body?: string) => string)])[] = [
  [
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----|$)/g,
    MASK,
  ],
  ...markup,
  // `password=x`, `"apiKey": "x"`, `Authorization: Bearer x`
  [new RegExp(String.raw`((?:${names})[\w.-]{0,40}\\{0,4}["']?\s{0,4}[:=]{1,2}>?\s{0,4})${value}`, "gi"), `$1${MASK}`],
  // `DB_PASS=x`, `"encryptionKey": "x"`; a bare `key: x` is said of registries and keyboards too
  [
    new RegExp(
      String.raw`((?:${passEnding}|${keyEnding})\\{0,4}["']?\s{0,4}[:=]{1,2}>?\s{0,4}|(?<![\w.-])key=(?!["'\\]))(?!HK)${value}`,
      "gi",
    ),
    `$1${MASK}`,
  ],
  [new RegExp(String.raw`((?:^|[\s"'])${flags}(?:\s{1,4}|[:=]))(?![-/])${value}`, "gi"), `$1${MASK}`],
  // `net user NAME SECRET`
  [/(\bnet1?(?:\.exe)?"?\s{1,4}user [^\s/]\S{0,99}\s{1,4})[^\s/]\S*/gi, `$1${MASK}`],
  [/\b(Bearer|Basic|Negotiate|NTLM)(\s{1,4})[A-Za-z0-9._~+/=-]{16,}/g, `$1$2${MASK}`],
  // `https://name:secret@host`
  [/(:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,500}(?=@)/g, `$1${MASK}`],
  // Tokens that are known by how they look: JWT, ours, AWS, GitHub, Slack, Stripe.
  [jwt, (found, body) => (body === undefined ? found : MASK)],
  [
    /\b(?:agt_[0-9a-f]{64}|svc_[\w-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|xox[abprs]-[\w-]{10,}|[sr]k_live_\w{10,})/g,
    MASK,
  ],
];

/** The text with each secret replaced by a mask; what stands around them stays. */
export function maskSecrets(text: string): string {
  let masked = text;
  for (const [pattern, by] of patterns) masked = masked.replace(pattern, by as string);
  return masked;
}

const secretName = new RegExp(`${names}|${passEnding}$|${keyEnding}$`, "i");
const secretFlag = new RegExp(`^${flags}$`, "i");

/**
 * The same of JSON: what stands under a secret's name is masked whole, every other text by what it holds, and what follows
 * a flag in a list of arguments.
 */
export function maskSecretsIn(json: unknown): unknown {
  if (typeof json === "string") return maskSecrets(json);
  if (Array.isArray(json))
    return json.map((item, at) => (isFlag(json[at - 1]) && !isFlag(item) ? MASK : maskSecretsIn(item)));
  if (json === null || typeof json !== "object") return json;
  const fields = Object.entries(json);
  const pair = fields.some(
    ([field, named]) => /^(?:name|key)$/i.test(field) && typeof named === "string" && secretName.test(named),
  );
  return Object.fromEntries(
    fields.map(([field, inner]) => {
      const isSecret = inner !== null && (secretName.test(field) || (pair && field.toLowerCase() === "value"));
      return [field, isSecret ? MASK : maskSecretsIn(inner)];
    }),
  );
}

const isFlag = (item: unknown): boolean => typeof item === "string" && secretFlag.test(item);
