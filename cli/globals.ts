import type { Command } from "commander";
import { parseDuration } from "./duration.ts";
import { usageError } from "./errors/cli-error.ts";
import type { Given } from "./errors/commands-to-type.ts";
import { nounOfWords } from "./noun-aliases.ts";

/** Flags that every command takes, before or after its name. Their names are fixed for scripts. */
export interface Globals {
  server?: string;
  insecureHttp: boolean;
  profile?: string;
  org?: string;
  site?: string;
  json: boolean;
  /** Of `--json=id,name`. */
  jsonFields?: string[];
  ndjson: boolean;
  jq?: string;
  columns?: string[];
  wide: boolean;
  header: boolean;
  limit?: number;
  all: boolean;
  yes: boolean;
  confirm?: string;
  input: boolean;
  dryRun: boolean;
  wait: boolean;
  timeoutMs?: number;
  debug: boolean;
  quiet: boolean;
  tokenFile?: string;
  tokenStdin: boolean;
  idempotencyKey?: string;
  /** Flags that suggested follow-up commands repeat. */
  given: Given;
  /** The whole command line, as it was typed. */
  typed: readonly string[];
  /** The command, by the names that were typed: `filters run`. */
  line?: string;
  /** The command calls a server, unless it is a dry run. */
  calls?: boolean;
}

/** Name, placeholder of the value, description. */
const flags = [
  ["server", "<url>", "address of the server"],
  ["insecure-http", "", "send credentials unencrypted to a server that is not on this machine"],
  ["profile", "<name>", "profile to use"],
  ["org", "<org>", "organization: slug, name or id"],
  ["site", "<site>", "site: name or id"],
  ["json", "", "print JSON; --json=id,name chooses fields"],
  ["ndjson", "", "print one JSON object a line"],
  ["jq", "<expression>", "filter the JSON with a jq expression"],
  ["columns", "<names>", "columns of the table, with commas"],
  ["wide", "", "all columns, however narrow the terminal is"],
  ["no-header", "", "leave out the header of the table"],
  ["limit", "<n>", "most entries of a list (default 50)"],
  ["all", "", "the whole list"],
  ["yes", "", "answer yes to every question"],
  ["confirm", "<slug>", "slug of the tenant to delete, or number of entries to lose"],
  ["no-input", "", "never ask; fail naming what is missing"],
  ["dry-run", "", "print the request instead of sending it"],
  ["wait", "", "wait for the job that was started"],
  ["timeout", "<duration>", "most time to take: 90s, 10m, 1h"],
  ["debug", "", "print requests and answers, secrets masked, on stderr"],
  ["quiet", "", "no notices on stderr"],
  ["token-file", "<path>", "read the token or key from a file"],
  ["token-stdin", "", "read the token or key from stdin"],
  ["idempotency-key", "<key>", "8 to 128 characters; a repeated call with it is done once"],
] as const;

/** A global flag without its dashes; `json=` chooses fields. */
export type GlobalFlag = (typeof flags)[number][0] | "json=";

/** `--limit`, without dashes and without `no-`. */
export const globalFlagNames: ReadonlySet<string> = new Set(flags.map(([name]) => name.replace(/^no-/, "")));
export const globalFlagList: readonly {
  name: GlobalFlag;
  flag: string;
  value: string;
  description: string;
}[] = flags.map(([name, value, description]) => ({ name, flag: `--${name}`, value, description }));
const withValue: ReadonlySet<string> = new Set(flags.filter(([, value]) => value !== "").map(([name]) => `--${name}`));

export function addGlobalFlags(program: Command): void {
  program.optionsGroup("Global flags:");
  for (const [name, value, description] of flags) program.option(`--${name}${value && ` ${value}`}`, description);
  program.addOption(program.createOption("--json-fields <names>").hideHelp());
}

/** `--json=id,name` becomes two flags: an optional value would swallow the next word otherwise. */
export function normalizeArgv(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.flatMap((arg, index) => {
    if (end !== -1 && index > end) return [arg];
    return arg.startsWith("--json=") ? ["--json", `--json-fields=${arg.slice("--json=".length)}`] : [arg];
  });
}

/** The words that name the command, without flags and the values of global flags. */
export const wordsOf = (argv: readonly string[]): string[] => placesOfWords(argv).map((at) => argv[at]!);

function placesOfWords(argv: readonly string[]): number[] {
  const places: number[] = [];
  for (let index = 0; index < argv.length; index++) {
    const arg = argv[index]!;
    if (arg === "--") break;
    if (withValue.has(arg)) index++;
    else if (!arg.startsWith("-")) places.push(index);
  }
  return places;
}

/** `pam rules list` becomes `pam-rules list`, wherever flags stand between the words. */
export function withNounOfWords(argv: readonly string[]): readonly string[] {
  const [first = -1, second = -1] = placesOfWords(argv);
  const noun = nounOfWords(argv[first], argv[second]);
  if (noun === undefined) return argv;
  return argv.flatMap((arg, at) => (at === first ? [noun] : at === second ? [] : [arg]));
}

/** True if errors are printed as JSON. Works before the command line is parsed. */
export const wantsJson = (argv: readonly string[]): boolean =>
  argv
    .slice(0, argv.includes("--") ? argv.indexOf("--") : undefined)
    .some((arg) => /^--(nd)?json$|^--jq(=|$)/.test(arg));

/** Reads what commander parsed; throws a usage error for an invalid value. */
export function readGlobals(options: Record<string, unknown>, given: Given, typed: readonly string[] = []): Globals {
  const text = (name: string) => options[name] as string | undefined;
  const flag = (name: string) => options[name] === true;
  const list = (name: string) => namesOf(text(name), name);
  const globals: Globals = {
    server: text("server"),
    insecureHttp: flag("insecureHttp"),
    profile: text("profile"),
    org: text("org"),
    site: text("site"),
    json: flag("json"),
    jsonFields: list("jsonFields"),
    ndjson: flag("ndjson"),
    jq: text("jq"),
    columns: list("columns"),
    wide: flag("wide"),
    header: options["header"] !== false,
    limit: limitOf(text("limit")),
    all: flag("all"),
    yes: flag("yes"),
    confirm: text("confirm"),
    input: options["input"] !== false,
    dryRun: flag("dryRun"),
    wait: flag("wait"),
    timeoutMs: text("timeout") === undefined ? undefined : parseDuration(text("timeout")!, "--timeout"),
    debug: flag("debug"),
    quiet: flag("quiet"),
    tokenFile: text("tokenFile"),
    tokenStdin: flag("tokenStdin"),
    idempotencyKey: keyOf(text("idempotencyKey")),
    given,
    typed,
  };
  forbidPairs(globals);
  return globals;
}

function forbidPairs({ json, ndjson, jq, all, limit, tokenFile, tokenStdin }: Globals): void {
  if (json && ndjson) throw usageError("Use either --json or --ndjson");
  if (jq !== undefined && ndjson) throw usageError("Use either --jq or --ndjson");
  if (all && limit !== undefined) throw usageError("Use either --all or --limit");
  if (tokenFile !== undefined && tokenStdin) throw usageError("Use either --token-file or --token-stdin");
}

function namesOf(value: string | undefined, name: string): string[] | undefined {
  if (value === undefined) return undefined;
  const names = value
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  if (names.length === 0) throw usageError(`--${name === "jsonFields" ? "json=" : name} names no field`);
  return names;
}

function limitOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw usageError("--limit must be a whole number from 1");
  return Number(value);
}

function keyOf(value: string | undefined): string | undefined {
  if (value !== undefined && !/^[\x21-\x7e]{8,128}$/.test(value)) {
    throw usageError("--idempotency-key must have 8 to 128 printable characters without spaces");
  }
  return value;
}
