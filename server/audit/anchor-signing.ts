import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type Anchor, type AnchorStatement, anchorText } from "./anchor-format.ts";
import { sha256 } from "./chain.ts";

/** Signs anchors; `publicKey` is SPKI DER in base64, as auditors receive it. */
export interface AnchorSigner {
  keyId: string;
  publicKey: string;
  sign(anchor: AnchorStatement): Anchor;
}

const PKCS8_ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Reads a base64 32-byte seed (`AUDIT_ANCHOR_SIGNING_KEY`); throws without quoting it when it is malformed. */
export const anchorSigner = (seedBase64: string): AnchorSigner => {
  const seed = Buffer.from(seedBase64, "base64");
  if (seed.length !== 32 || seed.toString("base64").replace(/=+$/, "") !== seedBase64.trim().replace(/=+$/, ""))
    throw new Error("the anchor signing key must be the base64 text of 32 bytes");
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  const keyId = anchorKeyId(spki);
  return {
    keyId,
    publicKey: spki.toString("base64"),
    sign: (anchor) => ({
      ...anchor,
      signature: sign(null, Buffer.from(anchorText(anchor), "utf8"), key).toString("base64"),
      signingKeyId: keyId,
    }),
  };
};

/** `anchor-` + 16 hex of SHA-256 over the SPKI. */
export const anchorKeyId = (spki: Buffer): string => `anchor-${sha256(spki).slice(0, 16)}`;

/** Checks signatures of one public key (SPKI base64). An anchor of another key, or without signature, is not valid. */
export const anchorVerifier = (publicKeyBase64: string): ((anchor: Anchor) => boolean) => {
  const spki = Buffer.from(publicKeyBase64, "base64");
  const key: KeyObject = createPublicKey({ key: spki, format: "der", type: "spki" });
  const keyId = anchorKeyId(spki);
  return (anchor) =>
    anchor.signature !== null &&
    anchor.signingKeyId === keyId &&
    verify(null, Buffer.from(anchorText(anchor), "utf8"), key, Buffer.from(anchor.signature, "base64"));
};
