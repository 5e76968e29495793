import { authenticatorTransports } from "#contract/core/authenticator";
import { invalid } from "#server/problem";
import { isChallenge } from "./challenge.ts";
import { loadWebAuthn } from "./load-webauthn.ts";
import type { RelyingParty } from "./relying-party.ts";
import { algorithms } from "./rules.ts";

interface Response {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: string[] | undefined;
  };
}

/**
 * The credential that a browser made for this challenge, on this server's own page, with the person verified; anything
 * else is 400. Who made the authenticator is not asked: only no attestation, or one by the credential itself, is read.
 */
export async function readRegistration(party: RelyingParty, given: Response, challengeHash: string) {
  await refuseOtherFormats(given.response.attestationObject);
  const { registrationInfo } = await verify(party, given, challengeHash).catch((cause: unknown) => {
    throw refused("The registration could not be verified", cause);
  });
  if (registrationInfo?.credential.id !== given.id) throw refused("The registration could not be verified");
  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo;
  const isBackupEligible = credentialDeviceType === "multiDevice";
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    isBackupEligible,
    isPlatformBound: !isBackupEligible && !credentialBackedUp,
    transports: authenticatorTransports.filter((one) => given.response.transports?.includes(one)),
  };
}

async function verify(party: RelyingParty, given: Response, challengeHash: string) {
  const { decodeClientDataJSON, verifyRegistrationResponse } = await loadWebAuthn();
  if (decodeClientDataJSON(given.response.clientDataJSON).crossOrigin) throw new Error("within a frame");
  const { clientDataJSON, attestationObject } = given.response;
  return verifyRegistrationResponse({
    response: {
      ...{ id: given.id, rawId: given.rawId, type: given.type, clientExtensionResults: {} },
      response: { clientDataJSON, attestationObject },
    },
    expectedChallenge: isChallenge(challengeHash),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  });
}

async function refuseOtherFormats(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await loadWebAuthn();
  let format: string;
  try {
    const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
    format = decoded.get("attStmt").get("x5c") === undefined ? decoded.get("fmt") : "by another key";
  } catch (cause) {
    throw refused("The attestation cannot be read", cause);
  }
  if (format !== "none" && format !== "packed")
    throw refused("The attestation must be none, or by the credential itself");
}

const refused = (message: string, cause?: unknown) =>
  Object.assign(invalid({ path: "response", message }), cause === undefined ? {} : { cause });
