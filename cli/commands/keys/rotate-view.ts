import type { Context } from "../../context.ts";
import { commandToType } from "../../errors/commands-to-type.ts";
import type { ListedKey } from "../../keys/listed-key.ts";
import type { RotationItem, RotationResult } from "../../keys/rotate-keys.ts";
import { rotationSinkText } from "../../keys/secret-sink.ts";
import type { RotateOptions, RotationPlan } from "./rotate-plan.ts";

export const planColumns = ["action", "kind", "id", "name", "organization", "issuedAt", "expiresAt", "sink", "note"];

/** The plan as `--dry-run` prints it. */
export const planRows = ({ items, keys }: RotationPlan) =>
  items.map((item) => {
    const { kind, id, name, organization, sink, resumed } = item;
    const key = keys.get(id);
    return {
      action: resumed ? "resume" : "rotate",
      kind,
      id,
      name,
      organization,
      issuedAt: key?.issuedAt ?? null,
      expiresAt: item.expiresAt ?? key?.expiresAt ?? null,
      sink: rotationSinkText(sink),
      note: noteOn(item, key),
    };
  });

/** What a rotation does not change, and someone may think it does. */
function noteOn({ kind, resumed, expiresAt }: RotationItem, key: ListedKey | undefined): string | null {
  if (resumed) return `begun ${resumed.startedAt}: its secret did not arrive`;
  if (key?.status === "exhausted") return "was used up: it lets as many devices in again";
  if (!key?.expiresAt || expiresAt !== undefined) return null;
  if (kind === "enrollment-key") return "keeps its end: --expires-in moves it";
  return kind === "service-principal" ? null : "keeps its expiry: rotation does not change it";
}

export const resultColumns = ["outcome", "kind", "id", "name", "organization", "keyPrefix", "newId", "sink", "message"];

/** A result as a line of a table. */
export const resultRow = ({ error, secret: _secret, ...rest }: RotationResult) => ({
  ...rest,
  message: error === undefined ? undefined : `${error.message} (${error.code})`,
});

/** What to type to go on, with the places where secrets and journal are. */
export function resumeCommand(
  { globals }: Context,
  options: RotateOptions,
  more: readonly string[] = ["--resume"],
): string {
  const flags = {
    org: globals.org,
    partner: options.partner,
    "secret-dir": options.secretDir,
    "secret-file": options.secretFile,
    "secret-command": options.secretCommand,
    "github-output": options.githubOutput,
    journal: options.journal,
    "expires-in": more.includes("--resume") ? undefined : options.expiresIn,
    yes: true,
  };
  return commandToType(["keys", "rotate", ...more], flags, globals.given);
}
