// A second verifier of proofs, from server/docs/audit-format.md, with nothing but Node: node verify-audit-proof.mjs PROOF
// --public-key SPKI_BASE64… Exit 0: proven; 11: not; 12: unsigned, or signed with a key that was not given.
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const jcs = (object) => `{${Object.keys(object).sort().map((key) => `${JSON.stringify(key)}:${JSON.stringify(object[key])}`)}}`;
const fields = ["id", "orgId", "partnerId", "timestamp", "actorType", "actorId", "actorEmail", "action", "resourceType",
  "resourceId", "resourceName", "details", "ipAddress", "userAgent", "result", "errorMessage"];

/** "proven", "broken", "unsigned" or "unknown key". */
export function verifyProof({ entry, proof }, publicKeys) {
  const { chainSeq, size, anchor } = proof;
  const path = Buffer.from(proof.path, "base64");
  const content = sha256(JSON.stringify(["al1", ...fields.map((name) =>
    name === "timestamp" ? String(Date.parse(entry.timestamp)) : entry[name])]));
  let [place, last] = [size - 1 - (anchor.headChainSeq - chainSeq), size - 1];
  if (proof.format !== "ap1" || place < 0 || place > last || path.length % 32 !== 0) return "broken";
  let node = sha256("\x00", content);
  for (let at = 0; at < path.length; at += 32) {
    const sibling = path.subarray(at, at + 32);
    if (last === 0) return "broken";
    if (place % 2 === 1 || place === last) {
      node = sha256("\x01", sibling, node);
      while (place % 2 === 0 && place > 0) [place, last] = [place >> 1, last >> 1];
    } else node = sha256("\x01", node, sibling);
    [place, last] = [place >> 1, last >> 1];
  }
  const kind = entry.orgId ? "organization" : entry.partnerId ? "partner" : "system";
  const owner = entry.orgId ?? entry.partnerId ?? "00000000-0000-0000-0000-000000000000";
  if (last !== 0 || anchor.chainKind !== kind || anchor.chainId !== owner) return "broken";
  const { signature, signingKeyId, ...statement } = anchor;
  if (signature === null) return "unsigned";
  const spki = publicKeys.map((text) => Buffer.from(text, "base64"))
    .find((key) => `anchor-${sha256(key).toString("hex").slice(0, 16)}` === signingKeyId);
  if (!spki) return "unknown key";
  const text = jcs({ ...statement, merkleRoot: node.toString("hex") });
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, "base64")) ? "proven" : "broken";
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [file, ...flags] = process.argv.slice(2);
  const keys = flags.filter((_, at) => flags[at - 1] === "--public-key");
  const verdict = verifyProof(JSON.parse(readFileSync(file, "utf8")), keys);
  process.stdout.write(`${verdict}\n`);
  process.exitCode = verdict === "proven" ? 0 : verdict === "broken" ? 11 : 12;
}
