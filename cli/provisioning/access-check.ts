import { grants } from "#contract/core/permissions";
import { CliError } from "../errors/cli-error.ts";
import type { LiveMe } from "./live.ts";
import { type Plan, stepsOf } from "./plan.ts";

/** Throws before the first change when the caller lacks what the plan needs: a second factor, a permission, a scope. */
export function checkAccess(me: LiveMe, plan: Plan): void {
  const steps = plan.organizations.flatMap(stepsOf);
  if (steps.length === 0) return;
  if (!me.mfaSatisfied) {
    throw new CliError("Changes need a session with a second factor", {
      exit: "unauthenticated",
      code: "MFA_REQUIRED",
      hint: me.mfaEnabled ? "Prove it with `rmm auth mfa step-up`" : "Set one up with `rmm auth mfa setup`",
    });
  }
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
}

const forbidden = (message: string, code: string): CliError =>
  new CliError(message, { exit: "forbidden", code, hint: "Nothing was changed" });
