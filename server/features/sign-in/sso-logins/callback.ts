import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import type { Call } from "#server/http/call";
import { admitPerson } from "./admit.ts";
import { type Assertion, obtainAssertion } from "./assertion.ts";
import { linkIdentity } from "./link.ts";
import { consumeLoginSession, type LoginSession } from "./login-session.ts";
import { refusedLocation } from "./refused-location.ts";
import { Rejection, rejection } from "./rejection.ts";
import { isAllowedDomain } from "./rules.ts";
import { clearStateCookie, isBoundToBrowser } from "./state-cookie.ts";

type OwnCallbackCall = typeof ssoLogins.callbackOfProvider extends Endpoint<infer T> ? Call<T> : never;
type CommonCallbackCall = typeof ssoLogins.callback extends Endpoint<infer T> ? Call<T> : never;
type CallbackCall = OwnCallbackCall | CommonCallbackCall;

/** What is known so far: a refusal is recorded where it belongs, and answered where it is waited for. */
interface Progress {
  session?: LoginSession;
  provider?: ProviderRow;
  assertion?: Assertion;
}

/**
 * Receives the browser from the identity provider (docs/single-sign-on.md, "Callback"). Always a redirect; the first
 * check that fails decides.
 */
export async function receiveCallback(call: CallbackCall) {
  const progress: Progress = {};
  try {
    return { location: await signIn(call, progress) };
  } catch (error) {
    const refusal = refusalOf(call, error);
    const { session, provider, assertion } = progress;
    call.audit.note({
      action: session?.link ? "sso.identity.link_rejected" : "sso.callback.rejected",
      result: "denied",
      ...(provider && { resource: { type: "sso_provider", id: provider.id, name: provider.name } }),
      details: { phase: refusal.phase, reason: refusal.reason, ...(assertion && { email: assertion.profile.email }) },
    });
    return { location: refusedLocation(session, refusal.code) };
  }
}

async function signIn(call: CallbackCall, progress: Progress): Promise<string> {
  const returned = await takeSession(call, progress);
  const { session } = progress as { session: LoginSession };
  const provider = await call.readAsSystem("sign-in", (db) =>
    db.selectFrom("ssoProviders").selectAll().where("id", "=", session.providerId).executeTakeFirst(),
  );
  if (!provider) throw rejection("provider_not_found", "provider");
  progress.provider = provider;
  call.audit.note({ owner: provider.orgId === null ? { partnerId: provider.partnerId } : { orgId: provider.orgId } });
  refuseProviderError(call);
  if (provider.status !== "active") throw rejection("sso_provider_inactive", "provider");
  if (provider.configVersion !== session.configVersion) throw rejection("sso_config_changed", "provider");
  refuseOtherAddress(call, provider);
  const assertion = await obtainAssertion(call, provider, session, returned);
  progress.assertion = assertion;
  const { emailVerified, domain } = assertion.profile;
  if (emailVerified === false) throw rejection("sso_email_unverified", "profile");
  if (!isAllowedDomain(provider.allowedDomains, domain)) throw rejection("domain_not_allowed", "profile");
  if (session.link) return linkIdentity(call, { provider, assertion, target: session.link });
  const { redirectPath, exchangeChallenge: challenge } = session;
  return admitPerson(call, { provider, assertion, redirectPath, challenge });
}

/**
 * The cookie is compared first; only then is the sign-in taken, once. An error of the provider takes it too: a sign-in
 * that the provider has ended cannot continue.
 */
async function takeSession(call: CallbackCall, progress: Progress) {
  const { code = "", state = "", iss, error } = call.query;
  const isBound = state !== "" && isBoundToBrowser(call, state);
  if (error === undefined && (code === "" || !isBound)) throw rejection("invalid_callback", "return");
  if (isBound) {
    clearStateCookie(call);
    const session = await consumeLoginSession(call, state);
    if (session) progress.session = session;
    if (session?.link) call.audit.note({ actor: { type: "user", id: session.link.userId } });
  }
  if (!progress.session) {
    refuseProviderError(call);
    throw rejection("session_expired", "session");
  }
  return { code, state, iss };
}

/**
 * A provider that was sent another provider's request (mix-up, RFC 9700 4.4) answers at that one's address: neither its
 * code nor the browser is taken further.
 */
function refuseOtherAddress(call: CallbackCall, { id, ownCallback }: ProviderRow): void {
  const at = "providerId" in call.params ? call.params.providerId : undefined;
  if (at !== (ownCallback ? id : undefined)) throw rejection("invalid_callback", "return", "other_callback_address");
}

/**
 * Before every other refusal, but after the provider is known: the refusal is recorded in the chain of the provider's
 * owner.
 */
function refuseProviderError(call: CallbackCall): void {
  const { error } = call.query;
  if (error === undefined) return;
  throw rejection("sso_error", "return", /^[\w.-]{1,64}$/.test(error) ? error : "provider_error");
}

function refusalOf(call: CallbackCall, error: unknown): Rejection {
  const refusal = error instanceof Rejection ? error : rejection("sso_error", "account", "internal_error", error);
  const { code, phase, reason, cause } = refusal;
  if (error instanceof Rejection) call.log.info("sso.callback_rejected", { code, phase, reason });
  else call.log.error("sso.callback_failed", { cause: cause as Error, requestId: call.requestId });
  return refusal;
}
