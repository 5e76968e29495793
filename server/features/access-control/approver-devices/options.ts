import type { ApproverDevice } from "#server/features/people/core/approver-devices";
import type { SignInUser } from "#server/features/people/core/find-user";
import { described, userHandleOf } from "./challenge.ts";
import type { RelyingParty } from "./relying-party.ts";
import { ASSERTION_MS, algorithms, REGISTRATION_MS } from "./rules.ts";

/** What a browser registers with, but for the challenge. */
export const registrationOf = (
  party: RelyingParty,
  { id, email, name }: Pick<SignInUser, "id" | "email" | "name">,
  devices: readonly ApproverDevice[],
) => ({
  rp: { id: party.id, name: "RMM" },
  user: { id: userHandleOf(id), name: email, displayName: name },
  pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key" as const, alg })),
  timeout: REGISTRATION_MS,
  attestation: "none" as const,
  authenticatorSelection: {
    authenticatorAttachment: "platform" as const,
    residentKey: "discouraged" as const,
    userVerification: "required" as const,
  },
  excludeCredentials: described(devices),
});

/** What a browser signs with, but for the challenge. */
export const assertionOf = (party: RelyingParty, devices: readonly ApproverDevice[]) => ({
  rpId: party.id,
  timeout: ASSERTION_MS,
  userVerification: "required" as const,
  ...(devices.length > 0 && { allowCredentials: described(devices) }),
});
