// A second verifier of proofs, from server/docs/audit-format.md, with nothing but Node.
// Exit 0: proven; 11: not; 12: unsigned, or signed with a key that was not given; 2: wrong arguments, or no proof.
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

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

const usage = "Usage: node verify-audit-proof.mjs PROOF [--public-key SPKI_BASE64]… [--trust FILE]…";
const refuse = (text) => {
  throw new Error(text);
};

/** The file and the keys of the command line; `--trust` names files with a key a line. */
function inputsOf(args) {
  const many = { type: "string", multiple: true, default: [] };
  const options = { "public-key": many, trust: many, help: { type: "boolean", short: "h" } };
  const { positionals, values } = parseArgs({ args, allowPositionals: true, options });
  if (values.help) return { help: true };
  if (positionals.length !== 1) refuse(positionals.length === 0 ? "No proof is named" : `Unknown argument ${positionals[1]}`);
  const keysIn = (path) => {
    const lines = readFileSync(path, "utf8").split("\n").map((line) => line.trim());
    const found = lines.filter((line) => line && !line.startsWith("#"));
    return found.length > 0 ? found : refuse(`${path} holds no key`);
  };
  const keys = [...values["public-key"], ...values.trust.flatMap(keysIn)];
  // All SPKI of Ed25519 begin alike.
  for (const key of keys)
    if (!/^MCowBQYDK2VwAyEA[\w+/]{43}=$/.test(key)) refuse(`No Ed25519 public key in SPKI and base64: ${key}`);
  return { path: positionals[0], keys };
}

function proofIn(path) {
  const text = readFileSync(path, "utf8");
  try {
    const file = JSON.parse(text);
    if (typeof file.entry.id === "string" && typeof file.proof.path === "string" && file.proof.anchor) return file;
  } catch {
    // Said below.
  }
  return refuse(`${path} is no proof of rmm audit prove`);
}

function main(args) {
  let given;
  try {
    given = inputsOf(args);
  } catch ({ code, message }) {
    console.error(code?.startsWith("ENO") ? message : `${message}\n${usage}`);
    return 2;
  }
  if (given.help) {
    console.log(usage);
    return 0;
  }
  try {
    const verdict = verifyProof(proofIn(given.path), given.keys);
    console.log(verdict);
    if (verdict === "unknown key" && given.keys.length === 0)
      console.error(`No key was given, so the anchor's signature could not be checked\n${usage}`);
    return verdict === "proven" ? 0 : verdict === "broken" ? 11 : 12;
  } catch ({ message }) {
    console.error(message);
    return 2;
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = main(process.argv.slice(2));
