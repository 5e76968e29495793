import { randomUUID } from "node:crypto";
import { grants } from "#contract/core/permissions";
import type { RmmClient } from "#sdk/client";
import { MfaRequiredError, NotFoundError } from "#sdk/errors";
import { CliError } from "../errors/cli-error.ts";
import type { LiveMe } from "./live.ts";
import { type Plan, stepsOf } from "./plan.ts";

/** Throws before the first change when the caller lacks what the plan needs: a second factor, a permission, a scope. */
export async function checkAccess(rmm: RmmClient, me: LiveMe, plan: Plan): Promise<void> {
  const steps = plan.organizations.flatMap(stepsOf);
  if (steps.length === 0) return;
  const needed = new Set(
    steps.map(({ kind }) => (kind === "site" ? ("sites:write" as const) : ("organizations:write" as const))),
  );
  for (const permission of needed) {
    if (grants(me.permissions, permission)) continue;
    throw forbidden(
      `This needs the permission ${permission}, which your role ${me.roleName ?? ""} does not have`,
      "PERMISSION_DENIED",
    );
  }
  const onOrganizations = steps.some(({ kind }) => kind === "organization");
  if (onOrganizations && (me.scope === "organization" || me.orgAccess === "none")) {
    throw forbidden("You cannot create or change organizations themselves, only what is inside yours", "FORBIDDEN");
  }
  if (grants(me.permissions, "organizations:write")) await checkSecondFactor(rmm, me);
}

/** A session without a second factor may do as well: a server can have its gate open, and only a change tells. */
async function checkSecondFactor(rmm: RmmClient, me: LiveMe): Promise<void> {
  if (me.mfaSatisfied) return;
  try {
    await rmm.contacts.remove({ params: { contactId: randomUUID() } });
  } catch (error) {
    if (error instanceof NotFoundError) return;
    if (!(error instanceof MfaRequiredError)) throw error;
    throw new CliError("Changes need a session with a second factor", {
      exit: "unauthenticated",
      code: error.code,
      hint: me.mfaEnabled ? "Prove it with `rmm auth mfa step-up`" : "Set one up with `rmm auth mfa setup`",
    });
  }
}

const forbidden = (message: string, code: string): CliError =>
  new CliError(message, { exit: "forbidden", code, hint: "Nothing was changed" });
