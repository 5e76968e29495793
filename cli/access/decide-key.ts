import type { CommandSpec } from "../manifest.ts";
import { type KeyAccess, type KeyKind, mintsKeys } from "./ask-key.ts";
import { kindsText, kindText, type Verdict } from "./decide.ts";
import { allCommands, type Target } from "./target.ts";

/** The verdict about a device's token. */
export const decideForAgent = (target: Target): Verdict =>
  "command" in target ? byKind(target.command, "agent") : no("a device token has no permissions");

/** The verdict about a key; undefined: the server does not tell. */
export async function decideForKey(asked: KeyAccess, kind: KeyKind, target: Target): Promise<Verdict | undefined> {
  if ("grant" in target) return ofScope(asked, kind, target.grant);
  const { command } = target;
  const fits = byKind(command, kind);
  if (!fits.allowed || command.access.kinds.includes("public")) return fits;
  const allowed = await asked.mayCall(command);
  if (allowed === undefined) return undefined;
  if (allowed) return yes;
  return mintsKeys(command) && asked.restricted === false ? no(UNRESTRICTED) : lacks(asked, command.access.keyScopes);
}

/** A scope is worth what it opens to a key of this kind: other commands of the same permission may be for people alone. */
async function ofScope(asked: KeyAccess, kind: KeyKind, scope: string): Promise<Verdict | undefined> {
  const commands = await allCommands();
  const opened = commands.filter(({ access }) => access.kinds.includes(kind) && access.keyScopes.includes(scope));
  const [noun] = scope.split(":");
  const closed = commands
    .filter(({ access }) => !access.kinds.includes(kind) && access.permissions.includes(scope))
    .toSorted((a, b) => Number(b.noun === noun) - Number(a.noun === noun));
  if (opened.length === 0) return no(`no command takes ${scope} from ${kindText(kind)}${forPeople(closed)}`);
  const allowed = await asked.holds(scope);
  if (allowed === undefined) return undefined;
  if (allowed) return { ...yes, limits: closed.length === 0 ? [] : [`it opens ${named(opened)}${forPeople(closed)}`] };
  return opened.some(mintsKeys) && asked.restricted === false ? no(UNRESTRICTED) : lacks(asked, [scope]);
}

const UNRESTRICTED = "its principal needs an expiry and a source allowlist to mint enrollment keys";

const forPeople = (commands: readonly CommandSpec[]): string =>
  commands.length === 0 ? "" : `; ${named(commands)} ${commands.length === 1 ? "is" : "are"} for a signed-in user`;

const SHOWN = 4;

function named(commands: readonly CommandSpec[]): string {
  const names = commands.map(({ noun, name }) => `${noun} ${name}`);
  const shown = names.length > SHOWN ? [...names.slice(0, SHOWN), `${names.length - SHOWN} more`] : names;
  return [shown.slice(0, -1).join(", "), shown.at(-1)].filter((text) => text !== "").join(" and ");
}

const lacks = ({ scopes }: KeyAccess, wanted: readonly string[]): Verdict =>
  no(`the key does not have ${wanted.join(" or ")}${scopes ? `; it has ${scopes.join(", ") || "no scope"}` : ""}`);

const no = (reason: string): Verdict => ({ allowed: false, secondFactor: false, reasons: [reason] });
const yes: Verdict = { allowed: true, secondFactor: false, reasons: [] };

function byKind({ access }: CommandSpec, kind: CommandSpec["access"]["kinds"][number]): Verdict {
  const fits = access.kinds.includes(kind) || access.kinds.includes("public");
  return fits ? yes : no(`it is for ${kindsText(access.kinds)}, and this is ${kindText(kind)}`);
}
