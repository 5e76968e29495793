import { usageError } from "../errors/cli-error.ts";
import type { CommandSpec, FlagSpec } from "../manifest.ts";

/** What proves that it is the owner who turns a factor off or sees it; the API knows whether an account has one. */
const isOwn = ({ name, required }: FlagSpec): boolean => name === "currentPassword" && !required;

/** Whether a request leaves out the caller's own password only for an account without one. */
export const takesOwnPassword = ({ body }: CommandSpec): boolean => body.some(isOwn);

/** What is said of it where it is asked for. */
const ASKED = "your own";

/** The password is missing that only an account without one does not have. */
export const lacksOwnPassword = (fields: readonly FlagSpec[]): boolean =>
  fields.some(({ name, description }) => name === "currentPassword" && description === ASKED);

export const withoutPasswordFlag = [
  "--no-current-password",
  "for an account without a password, which signs in through an identity provider",
] as const;

/**
 * The command as this run takes it: the password has to be given or asked for, since anybody else would be refused after
 * sending, unless it is said that there is none.
 */
export function withOwnPassword(spec: CommandSpec, options: Readonly<Record<string, unknown>>): CommandSpec {
  if (!takesOwnPassword(spec)) return spec;
  if (options["currentPassword"] !== false) {
    const body = spec.body.map((field) => (isOwn(field) ? { ...field, required: true, description: ASKED } : field));
    return { ...spec, body, bodyOptional: false };
  }
  for (const way of ["File", "Stdin"])
    if (options[`currentPassword${way}`] !== undefined)
      throw usageError(`Use either --no-current-password or --current-password-${way.toLowerCase()}`);
  return spec;
}
