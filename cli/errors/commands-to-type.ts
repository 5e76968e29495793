/** Flags of a run that a command to type after it takes over, by name: what goes on must go on in the same place. */
export type Given = Readonly<Partial<Record<(typeof names)[number], string>>>;

const names = [
  "server",
  "insecure-http",
  "profile",
  "token-file",
  "store",
  "email",
  "partner",
  "org",
  "no-browser",
  "data-dir",
  "database-url",
] as const;
type Name = (typeof names)[number];
const switches: ReadonlySet<Name> = new Set(["no-browser", "insecure-http"]);

/** Commands that call no server. */
const local = new Set(["help", "completion", "schema", "import", "quickstart", "profile"]);

/** Reads the flags as they were typed, also of a command line that is wrong; `words` name its command. */
export function givenIn(argv: readonly string[], words: readonly string[]): Given {
  const given: Partial<Record<Name, string>> = {};
  const own = new Set<Name>(["server", "insecure-http", "profile", "token-file", "org"]);
  if (isLogin(words)) for (const name of ["store", "email", "partner", "no-browser"] as const) own.add(name);
  if (words[0] === "server") for (const name of ["data-dir", "database-url"] as const) own.add(name);
  for (const [index, arg] of argv.entries()) {
    if (arg === "--") break;
    const [flag = "", ...rest] = arg.split("=");
    const name = flag.slice(2) as Name;
    if (!flag.startsWith("--") || !own.has(name)) continue;
    if (switches.has(name)) given[name] = "";
    else given[name] = rest.length > 0 ? rest.join("=") : (argv[index + 1] ?? "");
  }
  return given;
}

const isLogin = ([first, second]: readonly string[]): boolean =>
  first === "login" || (first === "auth" && second === "login");

/** Value flags, switches that are on, and what was given for the place; as a shell takes it. */
export function commandToType(
  words: readonly string[],
  flags: Readonly<Record<string, string | boolean | undefined>>,
  given: Given,
): string {
  const own = Object.entries(flags).flatMap(([flag, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [`--${flag}`] : [`--${flag} ${quoted(value)}`];
  });
  return withPlace(["rmm", ...words.map(quoted), ...own].join(" "), given);
}

/** Completes every command between backticks in a text. */
export const completed = (text: string, given: Given): string =>
  text.replace(/`(rmm [^`]+)`/g, (_, command: string) => `\`${withPlace(command, given)}\``);

/** The command with the flags of the place that it takes and does not have. */
export function withPlace(plain: string, given: Given): string {
  const command = plain.replace("<address>", () => (given.email === undefined ? "<address>" : quoted(given.email)));
  const words = command.split(" ").slice(1);
  const more = carriedBy(words).flatMap((name) => {
    const value = given[name];
    const has = words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
    if (value === undefined || has) return [];
    return [switches.has(name) ? `--${name}` : `--${name} ${quoted(value)}`];
  });
  return [command, ...more].join(" ");
}

function carriedBy(words: readonly string[]): readonly Name[] {
  const [first = ""] = words;
  if (words.includes("--help")) return [];
  if (first === "server") return ["data-dir", "database-url"];
  if (local.has(first)) return [];
  if (first === "config") return ["server", "profile", "token-file"];
  if (!isLogin(words)) return ["server", "insecure-http", "profile", "token-file"];
  const through: readonly Name[] = words.includes("--sso") ? ["email", "partner", "org", "no-browser"] : [];
  return ["server", "insecure-http", "profile", ...through, "store"];
}

/** The very command again, and more flags; what has no file is typed or piped again. */
export function again(typed: readonly string[], ...more: readonly string[]): string {
  const piped =
    typed.some((word, at) => /^(-f|--file)$/.test(word) && typed[at + 1] === "-") ||
    typed.some((word) => word === "-f-" || /^--[\w-]+-stdin$/.test(word));
  const command = ["rmm", ...typed, ...more].map(quoted).join(" ");
  return `\`${command}\`${piped ? ", with the same input" : ""}`;
}

/** A word as a shell reads it. */
export const quoted = (text: string): string =>
  /^[\w./:@%+=<>-]+$/.test(text) && text !== "" ? text : `'${text.replaceAll("'", "'\\''")}'`;
