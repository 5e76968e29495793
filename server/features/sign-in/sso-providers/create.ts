import type { Endpoint } from "#contract/core/endpoint";
import type { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import { writeCredentials } from "#server/access/write-credentials";
import { type Call, user } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { invalid, problem } from "#server/problem";
import { sealClientSecret } from "./client-secret.ts";
import { decideDefaultRole } from "./default-role.ts";
import { type Discovery, DiscoveryFailed, discover } from "./discovery.ts";
import { findProvider, ownerForCreate } from "./reach.ts";
import { defaultsOf } from "./rules.ts";
import { refuseUnsafeUrls } from "./safe-urls.ts";
import { shownProvider } from "./view.ts";

type Types = typeof ssoProviders.create extends Endpoint<infer T> ? T : never;
type CreateCall = Call<Types>;

interface Asked {
  discovery?: Discovery;
  discoveryError?: string;
}

/**
 * Creates a provider with status `inactive`, whether or not its issuer answers (docs/single-sign-on.md, "Discovery"):
 * the discovery document fills the endpoints that were not given, and a failure is reported in the answer.
 */
export const createProvider = afterAsking<Types, Asked>(askIssuer, insertProvider);

/** Checks everything that can refuse the request before this server contacts the issuer. */
async function askIssuer(call: CreateCall): Promise<Asked> {
  const { type, issuer } = call.body;
  const owner = await ownerForCreate(call, call.db);
  presetOf(call);
  if (call.body.enforceSSO && type === "saml") throw samlCannotEnforce();
  await decideDefaultRole(call, call.db, owner, call.body.defaultRoleId ?? null);
  await refuseUnsafeUrls(call, call.body);
  if (type !== "oidc" || !issuer) return {};
  try {
    return { discovery: await discover(issuer, call.services) };
  } catch (error) {
    if (!(error instanceof DiscoveryFailed)) throw error;
    call.log.warn("sso.discovery_failed", { requestId: call.requestId, error });
    return { discoveryError: error.message };
  }
}

/** SAML sign-in does not exist yet, so enforcing it would lock everyone out. */
export const samlCannotEnforce = () =>
  invalid({ path: "enforceSSO", message: "enforceSSO: needs an oidc provider; SAML sign-in is not available" });

function presetOf(call: CreateCall) {
  const { preset: id, type } = call.body;
  if (id === undefined) return undefined;
  const preset = call.config.ssoPresets.find((one) => one.id === id && one.type === type);
  if (!preset) throw problem("UNKNOWN_PRESET");
  return preset;
}

function insertProvider(call: CreateCall, { discovery, discoveryError }: Asked) {
  return call.transaction(async (tx) => {
    const owner = await ownerForCreate(call, tx);
    const { body } = call;
    const id = call.random.uuid();
    const now = call.clock.now();
    const role = await decideDefaultRole(call, tx, owner, body.defaultRoleId ?? null);
    const defaults = defaultsOf(presetOf(call));
    call.audit.note({ resource: { id, name: body.name }, details: { type: body.type, status: "inactive" } });
    const provider = {
      id,
      orgId: "orgId" in owner ? owner.orgId : null,
      partnerId: "orgId" in owner ? null : owner.partnerId,
      name: body.name,
      type: body.type,
      preset: body.preset ?? null,
      issuer: discovery?.issuer ?? body.issuer ?? null,
      clientId: body.clientId ?? null,
      clientSecretSealed: body.clientSecret ? sealClientSecret(call.services.vault, id, body.clientSecret) : null,
      requestedScopes: body.scopes ?? defaults.scopes,
      attributeMapping: body.attributeMapping ?? defaults.attributeMapping,
      // A partner's provider never creates accounts (docs/single-sign-on.md, "Accounts and identities").
      autoProvision: "orgId" in owner && body.autoProvision,
      ...role,
      allowedDomains: body.allowedDomains ?? null,
      enforceSso: body.enforceSSO,
      trustsIdpMfa: body.trustsIdpMfa,
      status: "inactive" as const,
      authorizationUrl: body.authorizationUrl ?? discovery?.authorizationEndpoint ?? null,
      tokenUrl: body.tokenUrl ?? discovery?.tokenEndpoint ?? null,
      userInfoUrl: body.userInfoUrl ?? discovery?.userInfoEndpoint ?? null,
      jwksUrl: body.jwksUrl ?? discovery?.jwksUri ?? null,
      announced: discovery?.announced ?? null,
      ownCallback: body.ownCallback,
      entityId: body.entityId ?? null,
      ssoUrl: body.ssoUrl ?? null,
      certificate: body.certificate ?? null,
      configVersion: 1,
      createdBy: user(call).userId,
      createdAt: now,
      updatedAt: now,
    };
    await writeCredentials(call, (all) => all.insertInto("ssoProviders").values(provider).execute());
    const shown = shownProvider(await findProvider(tx, id));
    return discoveryError === undefined ? shown : { ...shown, discoveryError };
  });
}
