import { grants, type Permission, permissions } from "#contract/core/permissions";
import type { CommandSpec } from "../manifest.ts";
import type { Target } from "./target.ts";

/** A signed-in user, as GET /users/me tells. */
export interface UserAccess {
  readonly kind: "user";
  readonly scope: "organization" | "partner" | "system";
  readonly roleName: string | null;
  readonly permissions: readonly string[];
  readonly orgAccess: "all" | "selected" | "none" | null;
  readonly mfaSatisfied: boolean;
}

export interface Verdict {
  readonly allowed: boolean;
  /** Only a second factor is missing in this session. */
  readonly secondFactor: boolean;
  /** Why not. */
  readonly reasons: readonly string[];
  /** What a yes does not stand for. */
  readonly limits?: readonly string[];
}

/** Applies the contract's rules to a user in the server's order. A pure function. */
export function decideForUser(who: UserAccess, target: Target): Verdict {
  if ("grant" in target) {
    const { grant } = target;
    if (!isPermission(grant)) return verdict([`${grant} is a scope of keys, and this is ${kindNames["user"]}`]);
    return verdict(holds(who, grant) ? [] : [lacks(who, grant)]);
  }
  const { access } = target.command;
  if (access.kinds.includes("public")) return verdict([]);
  const reasons = [
    ...(access.kinds.includes("user") ? [] : [`it is for ${kindsText(access.kinds)}, and this is a signed-in user`]),
    ...(access.kinds.includes("user") && !access.scopes.includes(who.scope)
      ? [
          access.ownPartner && who.scope === "system"
            ? "it acts on the caller's own partner, and you belong to none"
            : `it is for ${access.scopes.join(" and ")} scope, and you are in ${who.scope} scope`,
        ]
      : []),
    ...(access.fullPartner && who.scope === "partner" && who.orgAccess !== "all"
      ? ["it is for members with access to all organizations of the partner"]
      : []),
    ...(holds(who, access.lesserPermission) || holds(who, access.otherPermission)
      ? []
      : access.permissions.filter((permission) => !holds(who, permission)).map((permission) => lacks(who, permission))),
  ];
  return verdict(reasons, access.mfa && !who.mfaSatisfied);
}

/** Some scopes are only for keys, and `*:*` does not stand for them. */
const isPermission = (name: string): boolean => (permissions as readonly string[]).includes(name);

const holds = (who: UserAccess, permission: string | undefined): boolean =>
  permission !== undefined && grants(who.permissions, permission as Permission);

const lacks = ({ roleName }: UserAccess, permission: string): string =>
  `${roleName === null ? "your role" : `the role ${roleName}`} does not have ${permission}`;

const verdict = (reasons: readonly string[], needsFactor = false): Verdict => ({
  allowed: reasons.length === 0 && !needsFactor,
  secondFactor: reasons.length === 0 && needsFactor,
  reasons: needsFactor ? [...reasons, "it needs a session with a second factor"] : reasons,
});

const kindNames: Record<string, string> = {
  user: "a signed-in user",
  apiKey: "an API key (svc_…)",
  partnerKey: "a partner key (svc_sp_…)",
  agent: "a device token",
  public: "anyone",
};

export const kindsText = (kinds: CommandSpec["access"]["kinds"]): string =>
  kinds.map((kind) => kindNames[kind]).join(" or ");

export const kindText = (kind: string): string => kindNames[kind] ?? kind;
