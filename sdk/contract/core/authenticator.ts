import { z } from "zod";
import { shape } from "./endpoint.ts";

/** base64url without padding, of at most so many characters. */
export const base64url = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]+$/, "must be base64url");

/** How a browser reaches an authenticator. */
export const authenticatorTransports = ["internal", "hybrid", "usb", "nfc", "ble", "smart-card"] as const;

/** Risk tiers of requests by their names, the lowest first: tier 1 is `low`. */
export const tierNames = ["low", "medium", "high", "critical"] as const;

const descriptor = () =>
  z.object({
    id: z.string().describe("credential, base64url"),
    type: z.literal("public-key"),
    transports: z.array(z.string()),
  });

/** What a browser is asked to sign for an approval: for `navigator.credentials.get`, with base64url for bytes. */
export const AssertionOptions = shape("AssertionOptions", () =>
  z.object({
    challenge: z.string().describe("32 bytes, base64url"),
    rpId: z.string().describe("host of the server's public address"),
    timeout: z.int().describe("milliseconds"),
    userVerification: z.literal("required"),
    allowCredentials: z
      .array(descriptor())
      .optional()
      .describe("approver devices of the caller; absent: there are none"),
  }),
);

/** What a browser is asked to register a device with: for `navigator.credentials.create`, with base64url for bytes. */
export const RegistrationOptions = shape("RegistrationOptions", () =>
  z.object({
    challenge: z.string().describe("32 bytes, base64url"),
    rp: z.object({ id: z.string().describe("host of the server's public address"), name: z.string() }),
    user: z.object({ id: z.string().describe("base64url"), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int().describe("COSE") })),
    timeout: z.int().describe("milliseconds"),
    attestation: z.literal("none"),
    authenticatorSelection: z.object({
      authenticatorAttachment: z.literal("platform"),
      residentKey: z.literal("discouraged"),
      userVerification: z.literal("required"),
    }),
    excludeCredentials: z.array(descriptor()).describe("devices that are registered already"),
  }),
);

/** What the browser answers a registration with. */
export const Registration = shape("Registration", () =>
  z.object({
    id: base64url(2_048).describe("credential"),
    rawId: base64url(2_048).describe("the same"),
    type: z.literal("public-key"),
    response: z.object({
      clientDataJSON: base64url(8_192).describe("what the browser says"),
      attestationObject: base64url(32_768).describe("what the authenticator says"),
      transports: z.array(z.string().max(32)).max(16).optional().describe("how the authenticator is reached"),
    }),
  }),
);

/** What an authenticator signed for an approval. */
export const Proof = shape("ElevationProof", () =>
  z.strictObject({
    credentialId: base64url(2_048).describe("which credential"),
    authenticatorData: base64url(4_096).describe("what the authenticator says"),
    clientDataJSON: base64url(8_192).describe("what the browser says"),
    signature: base64url(4_096).describe("over both"),
    userHandle: base64url(256).optional().describe("whose credential it is"),
  }),
);
