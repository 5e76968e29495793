import type { Tx } from "#server/db/unit-of-work";
import { addMembership } from "#server/features/people/core/add-membership";
import { createAccount } from "#server/features/people/core/create-account";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import type { Assertion } from "./assertion.ts";
import { isStillGrantable } from "./default-role.ts";
import { rejection } from "./rejection.ts";

/**
 * Creates the account of an unknown person, if the provider is configured to
 * (docs/single-sign-on.md, "Accounts and identities").
 */
export async function provisionPerson(
  call: Call,
  tx: Tx,
  provider: ProviderRow,
  { profile }: Assertion,
): Promise<string> {
  const { orgId, defaultRoleId } = provider;
  if (orgId === null) throw rejection("invite_required", "account");
  if (!provider.autoProvision) throw rejection("user_not_found", "account");
  if (defaultRoleId === null) throw rejection("default_role_required", "account");
  if (!(await isStillGrantable(tx, { ...provider, orgId, defaultRoleId })))
    throw rejection("invalid_provider_configuration", "account");
  const { email, name } = profile;
  const { id } = await createAccount(call, tx, { email, name, status: "active", emailVerifiedAt: call.clock.now() });
  const target = { kind: "organization", orgId } as const;
  await addMembership(call, tx, target, { userId: id, roleId: defaultRoleId, access: { siteIds: null } });
  return id;
}
