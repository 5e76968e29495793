import { takeAssertion } from "#server/features/people/core/approver-challenges";
import { type ApproverDevice, activeDevicesOf, noteUse } from "#server/features/people/core/approver-devices";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { isChallenge, userHandleOf } from "./challenge.ts";
import { loadWebAuthn } from "./load-webauthn.ts";
import { findRelyingParty, type RelyingParty } from "./relying-party.ts";

export interface Proof {
  readonly credentialId: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
  readonly userHandle?: string | undefined;
}

/** Which device of the caller signed, and whether its key stays on that machine. */
export interface Proven {
  readonly deviceId: string;
  readonly isPlatformBound: boolean;
}

type Caller = Pick<Call, "who" | "config" | "clock" | "asSystem">;

/**
 * What a device of the caller signed for this request in this session (docs/approver-devices.md, "A proof"); anything else
 * is 401 `ASSERTION_FAILED`. The challenge is used up first, in a transaction of its own, whatever becomes of the attempt.
 */
export async function proveAssertion(call: Caller, elevationRequestId: string, proof: Proof): Promise<Proven> {
  const { userId, sessionId } = user(call);
  const now = call.clock.now();
  const { challengeHash, devices } = await call.asSystem("sign-in", async (tx) => ({
    challengeHash: await takeAssertion(tx, { userId, sessionId, elevationRequestId }, now),
    devices: await activeDevicesOf(tx, userId),
  }));
  const party = findRelyingParty(call.config);
  const device = devices.find(({ credentialId }) => credentialId === proof.credentialId);
  if (!party || !device || challengeHash === undefined) throw problem("ASSERTION_FAILED");
  const signed = await verify(party, { proof, device, challengeHash }).catch((cause: unknown) => {
    throw problem("ASSERTION_FAILED", { cause });
  });
  const noted = await call.asSystem("sign-in", (tx) => noteUse(tx, device, { ...signed, now }));
  if (!noted) throw problem("ASSERTION_FAILED");
  return { deviceId: device.id, isPlatformBound: device.isPlatformBound && !signed.isBackedUp };
}

interface Signed {
  readonly proof: Proof;
  readonly device: ApproverDevice;
  readonly challengeHash: string;
}

async function verify(party: RelyingParty, { proof, device, challengeHash }: Signed) {
  const { credentialId: id, userHandle, authenticatorData, clientDataJSON, signature } = proof;
  if (userHandle !== undefined && userHandle !== userHandleOf(device.userId)) throw new Error("another person's");
  const { decodeClientDataJSON, verifyAuthenticationResponse } = await loadWebAuthn();
  if (decodeClientDataJSON(clientDataJSON).crossOrigin) throw new Error("within a frame");
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...{ id, rawId: id, type: "public-key", clientExtensionResults: {} },
      response: { authenticatorData, clientDataJSON, signature },
    },
    expectedChallenge: isChallenge(challengeHash),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: { id, publicKey: new Uint8Array(Buffer.from(device.publicKey, "base64url")), counter: device.counter },
  });
  const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo;
  if (!verified) throw new Error("another signature");
  if ((credentialDeviceType === "multiDevice") !== device.isBackupEligible) throw new Error("another kind of key");
  return { counter: newCounter, isBackedUp: credentialBackedUp };
}
