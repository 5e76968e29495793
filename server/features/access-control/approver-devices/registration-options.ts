import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import { requireReauth } from "#server/features/access-control/core/reauth";
import { offerRegistration } from "#server/features/people/core/approver-challenges";
import { activeDevicesOf } from "#server/features/people/core/approver-devices";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import { type Call, user } from "#server/http/call";
import { after } from "#server/platform/clock";
import { problem } from "#server/problem";
import { newChallenge } from "./challenge.ts";
import { registrationOf } from "./options.ts";
import { relyingParty } from "./relying-party.ts";
import { DEVICES_MAX, REGISTRATION_MS } from "./rules.ts";

type OptionsCall = typeof approverDevices.registrationOptions extends Endpoint<infer T> ? Call<T> : never;

/** Begins to register a device of a person who proves once more who they are (docs/approver-devices.md, "Registering"). */
export async function beginRegistration(call: OptionsCall) {
  const { userId, sessionId } = user(call);
  const { currentPassword, mfaCode } = call.body;
  await requireReauth(call, { reauthPassword: currentPassword, reauthMfaCode: mfaCode });
  const party = relyingParty(call.config);
  const account = await ownAccount(call);
  const devices = await call.readAsSystem("sign-in", (db) => activeDevicesOf(db, userId));
  if (devices.length >= DEVICES_MAX) throw problem("LIMIT_REACHED", { details: { limit: DEVICES_MAX } });
  const { challenge, challengeHash } = newChallenge(call);
  const expiresAt = after(call.clock.now(), REGISTRATION_MS);
  await call.asSystem("sign-in", (tx) => offerRegistration(tx, { userId, sessionId, challengeHash, expiresAt }));
  return { options: { challenge, ...registrationOf(party, account, devices) }, pageUrl: party.pageUrl };
}
