import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { type AnchorStatement, type PruneStatement, type Signature, statementText } from "./anchor-format.ts";
import { sha256 } from "./chain.ts";

/** Signs anchors and prune records; `publicKey` is SPKI DER in base64, the form handed to whoever verifies. */
export interface AnchorSigner {
  keyId: string;
  publicKey: string;
  sign<T extends AnchorStatement | PruneStatement>(statement: T): T & Signature;
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
    sign: (statement) => ({
      ...statement,
      signature: sign(null, Buffer.from(statementText(statement), "utf8"), key).toString("base64"),
      signingKeyId: keyId,
    }),
  };
};

/** Signs where there is a key. */
export const signedBy = <T extends AnchorStatement | PruneStatement>(
  signer: AnchorSigner | undefined,
  statement: T,
): T & Signature => signer?.sign(statement) ?? { ...statement, signature: null, signingKeyId: null };

/** `anchor-` + 16 hex of SHA-256 over the SPKI. */
export const anchorKeyId = (spki: Buffer): string => `anchor-${sha256(spki).slice(0, 16)}`;

/** Reads an Ed25519 public key (SPKI base64); throws when it is none. */
export const anchorPublicKeyOf = (publicKeyBase64: string): { key: KeyObject; keyId: string } => {
  const spki = Buffer.from(publicKeyBase64, "base64");
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  if (key.asymmetricKeyType !== "ed25519") throw new Error("not an Ed25519 public key");
  return { key, keyId: anchorKeyId(spki) };
};

export type StatementVerifier = (statement: (AnchorStatement | PruneStatement) & Signature) => boolean;

/** Checks signatures of one public key (SPKI base64). A statement of another key, or without signature, is not valid. */
export const anchorVerifier = (publicKeyBase64: string): StatementVerifier => {
  const { key, keyId } = anchorPublicKeyOf(publicKeyBase64);
  return (statement) =>
    typeof statement.signature === "string" &&
    statement.signingKeyId === keyId &&
    verify(null, Buffer.from(statementText(statement), "utf8"), key, Buffer.from(statement.signature, "base64"));
};
