import { RmmError } from "#sdk/errors";
import { kinds } from "../generated/kinds.ts";
import { load } from "../generated/load.ts";
import type { CommandSpec } from "../manifest.ts";
import { spellingOf } from "../noun-aliases.ts";
import { quoted } from "./commands-to-type.ts";
import type { Described } from "./describe-error.ts";

/** A row or part that a request named. */
interface Named {
  readonly kind: string;
  readonly value: string;
  readonly noun: string;
  /** The command of the noun that lists such rows. */
  readonly verb: string;
}

/** The server's refusal to find or show something: with what that was, and where those are that there are. */
export async function explained(described: Described, thrown: unknown, org?: string): Promise<Described> {
  if (!(thrown instanceof RmmError) || thrown.status === undefined) return described;
  if (thrown.code === "ORG_ACCESS_DENIED" && org !== undefined)
    return saying(described, `There is no organization ${org}, or it is closed to you`);
  if (thrown.code !== "NOT_FOUND" || thrown.path === undefined) return described;
  const named = await namedBy(thrown.operation ?? "", thrown.path);
  const last = named.at(-1);
  if (last === undefined) return saying(described, `Not found: ${thrown.path}`);
  const outer = named.slice(0, -1);
  const rest = outer.map(({ kind, value }) => `, or no ${kind} ${value}`).join("");
  const list = await listCommand(last, outer);
  return saying(described, `There is no ${last.kind} ${last.value}${rest}`, list);
}

/** Of a proof that only a person can give: the credential is the right one. */
const aboutPerson = /MFA|STEP_UP|^reauth/;

/** A refusal of who asks: with where the credential came from, which is not always where one thinks. */
export async function withSource(described: Described, thrown: unknown, source?: string): Promise<Described> {
  const refused = thrown instanceof RmmError && (thrown.status === 401 || thrown.status === 403);
  if (source === undefined || !refused || aboutPerson.test(thrown.code)) return described;
  const [noun = "", verb = ""] = (thrown.operation ?? "").split(".");
  const spec = (await commandsOf(noun)).find(({ sdkVerb }) => sdkVerb === verb);
  if (spec?.access.kinds.includes("public")) return described;
  const { hint } = described.error;
  const told = `The credential is that of ${source}`;
  return { ...described, error: { ...described.error, hint: hint === undefined ? told : `${hint}. ${told}` } };
}

function saying({ exit, error }: Described, message: string, list?: string): Described {
  const hint = list === undefined ? error.hint : `\`${list}\` shows those that there are`;
  return { exit, error: { ...error, message, hint } };
}

/** `noun`: as the command or the SDK names it. */
async function commandsOf(noun: string): Promise<readonly CommandSpec[]> {
  const name = noun.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return Object.hasOwn(load, name) ? (await load[name]!()).commands : [];
}

/** What the path of a request names, the outermost first. */
async function namedBy(operation: string, path: string): Promise<Named[]> {
  const [noun = "", verb = ""] = operation.split(".");
  const spec = (await commandsOf(noun)).find(({ sdkVerb }) => sdkVerb === verb);
  if (spec === undefined) return [];
  const given = path.split("/");
  return spec.path.split("/").flatMap((part, at) => {
    const value = given[at];
    return part.startsWith(":") && value ? [named(spec, part.slice(1), decodeURIComponent(value))] : [];
  });
}

function named({ noun, refs: known }: CommandSpec, param: string, value: string): Named {
  const ref = known[param];
  if (ref === undefined || ref === "opaque")
    return { kind: noun.replace(/(?<=ss)es$|s$/, "").replaceAll("-", " "), value, noun, verb: "list" };
  const { noun: lister = noun, list } = kinds[ref] ?? {};
  return { kind: ref.replaceAll("-", " "), value, noun: lister, verb: list ?? "list" };
}

/** Inside what the path names as well. */
async function listCommand({ noun, verb }: Named, outer: readonly Named[]): Promise<string | undefined> {
  const spec = (await commandsOf(noun)).find(({ name }) => name === verb);
  if (spec === undefined) return undefined;
  const within = spec.params.map((param) => {
    const inside = outer.find(({ kind }) => kind === spec.refs[param]?.replaceAll("-", " "));
    if (inside !== undefined) return quoted(inside.value);
    return spec.refs[param] === "organization" ? "--org <org>" : `<${spec.refs[param]}>`;
  });
  return ["rmm", spellingOf(noun), verb, ...within].join(" ");
}
