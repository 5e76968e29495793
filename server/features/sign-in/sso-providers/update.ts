import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { changedNames, changeProvider } from "./change.ts";
import { sealClientSecret } from "./client-secret.ts";
import { samlCannotEnforce } from "./create.ts";
import { decideDefaultRole } from "./default-role.ts";
import { type Discovery, type DiscoveryFailed, discover } from "./discovery.ts";
import type { ProviderRow } from "./find-active-provider.ts";
import { unlinkIdentities } from "./keep-identity.ts";
import { writableProvider } from "./reach.ts";
import { defaultsOf, leadsElsewhere, needsDiscovery } from "./rules.ts";
import { refuseUnsafeUrls } from "./safe-urls.ts";

type UpdateCall = typeof ssoProviders.update extends Endpoint<infer T> ? Call<T> : never;

/** Changes a provider. If a new issuer does not answer, nothing is saved (docs/single-sign-on.md, "Discovery"). */
export async function updateProvider(call: UpdateCall) {
  const before = await writableProvider(call, call.params.id, call.db);
  await roleChange(call, call.db, before);
  await refuseUnsafeUrls(call, call.body);
  const plain = plainChange(call, before);
  const discovery = await freshDiscovery(call, before, { ...before, ...plain });
  return call.transaction(async (tx) => {
    await writableProvider(call, before.id, tx);
    const found = { ...discovered(discovery), ...plain, ...(discovery && { issuer: discovery.issuer }) };
    const forgets = plain.clientSecretSealed === undefined && leadsElsewhere(before, { ...before, ...found });
    const change = { ...found, ...(forgets && { clientSecretSealed: null }), ...(await roleChange(call, tx, before)) };
    const after = await changeProvider(call, tx, before, change);
    const unlinked = after.issuer === before.issuer ? 0 : await forgetPeople(call, before.id);
    call.audit.note({
      details: {
        changedFields: changedNames(before, after, typeof call.body.clientSecret === "string"),
        ...(unlinked > 0 ? { unlinkedIdentities: unlinked } : {}),
      },
    });
    return after;
  });
}

/** The columns a body sets; the default role and what discovery finds are not among them. */
function plainChange(call: UpdateCall, before: ProviderRow) {
  const { clientSecret, scopes, attributeMapping, autoProvision, enforceSSO, defaultRoleId: _, ...same } = call.body;
  const type = same.type ?? before.type;
  if (same.issuer === null && type === "oidc") throw problem("OIDC_ISSUER_REQUIRED");
  if ((enforceSSO ?? before.enforceSso) && type === "saml") throw samlCannotEnforce();
  const defaults = defaultsOf(call.config.ssoPresets.find((preset) => preset.id === before.preset));
  return {
    ...given(same),
    ...(clientSecret === undefined ? {} : { clientSecretSealed: sealed(call, before.id, clientSecret) }),
    ...(scopes === undefined ? {} : { requestedScopes: scopes ?? defaults.scopes }),
    ...(attributeMapping === undefined ? {} : { attributeMapping: attributeMapping ?? defaults.attributeMapping }),
    // A partner's provider never creates accounts.
    ...(autoProvision === undefined ? {} : { autoProvision: autoProvision && before.orgId !== null }),
    ...(enforceSSO === undefined ? {} : { enforceSso: enforceSSO }),
  };
}

const sealed = (call: UpdateCall, id: string, secret: string | null) =>
  secret === null ? null : sealClientSecret(call.services.vault, id, secret);

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

/** Sending the role again records the caller as the person who configured it, even if the role stays the same. */
async function roleChange(call: UpdateCall, db: Tx | UpdateCall["db"], before: ProviderRow) {
  const { defaultRoleId } = call.body;
  if (defaultRoleId === undefined) return {};
  const owner = before.orgId === null ? { partnerId: before.partnerId as string } : { orgId: before.orgId };
  return decideDefaultRole(call, db, owner, defaultRoleId);
}

async function freshDiscovery(call: UpdateCall, before: ProviderRow, after: ProviderRow) {
  if (!needsDiscovery(before, after)) return undefined;
  return discover(after.issuer, call.services).catch((error: DiscoveryFailed) => {
    throw problem("OIDC_DISCOVERY_FAILED", { details: { reason: error.message }, cause: error });
  });
}

const discovered = (discovery: Discovery | undefined) =>
  discovery && {
    authorizationUrl: discovery.authorizationEndpoint,
    tokenUrl: discovery.tokenEndpoint,
    userInfoUrl: discovery.userInfoEndpoint,
    jwksUrl: discovery.jwksUri,
    announced: discovery.announced,
  };

/** Who was linked at the issuer before is nobody at the new one. */
const forgetPeople = (call: UpdateCall, providerId: string): Promise<number> =>
  call.asSystem("unlink identities", (tx) => unlinkIdentities(tx, providerId));
