// A second verifier of audit bundles, from server/docs/audit-format.md, with nothing but Node, for bundles of any length:
// node verify-audit-bundle.mjs BUNDLE[.gz] [--anchor-file FILE] [--public-key SPKI_BASE64]…
// Prints breaks and problems as JSON. Exit 0: holds; 11: does not; 12: no whole bundle.
import { createHash, createPublicKey, verify } from "node:crypto";
import { createReadStream, readFileSync, realpathSync } from "node:fs";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";
import { createGunzip } from "node:zlib";
const DAY = 86_400_000;
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
const jcs = (object) => `{${Object.keys(object).sort().map((key) => `${JSON.stringify(key)}:${JSON.stringify(object[key])}`)}}`;
const fields = ["id", "orgId", "partnerId", "timestamp", "actorType", "actorId", "actorEmail", "action", "resourceType",
  "resourceId", "resourceName", "details", "ipAddress", "userAgent", "result", "errorMessage"];
const isTime = (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && new Date(text).toISOString() === text;
const contentHash = (row) => sha256(JSON.stringify(["al1", ...fields.map((name) =>
  name === "timestamp" ? String(isTime(row.timestamp) ? Date.parse(row.timestamp) : Number.NaN) : row[name])]));
const kinds = ["system", "partner", "organization"];
const isIn = ({ kind, id }, { orgId, partnerId }) => kind === (orgId ? "organization" : partnerId ? "partner" : "system") &&
  id === (orgId ?? partnerId ?? "00000000-0000-0000-0000-000000000000");
const bytes = (hex) => Buffer.from(hex.replaceAll("-", ""), "hex");
const chainHash = ({ kind, id }, link, prev) => {
  const seq = Buffer.alloc(8);
  seq.writeBigUInt64BE(BigInt(link.chainSeq));
  return sha256("\x01AC1", Buffer.of(kinds.indexOf(kind)), bytes(id), seq, bytes(link.contentHash), bytes(prev ?? "00".repeat(32)));
};
const isPrune = (statement) => statement.type === "prune";
const textOf = ({ signature: _signature, signingKeyId: _keyId, ...rest }) => jcs(rest);
const timeOf = (statement) => Date.parse(isPrune(statement) ? statement.prunedAt : statement.anchoredAt);

/** Judges statements alone: `faults` by reason, and the records that count. */
function judgeStatements(chain, own, outside, publicKeys) {
  const idOf = (key) => `anchor-${sha256(key.export({ format: "der", type: "spki" })).slice(0, 16)}`;
  const keyIn = (text) => createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
  const keys = new Map(publicKeys.map(keyIn).map((key) => [idOf(key), key]));
  const isValid = (one) => keys.has(one.signingKeyId) && verify(null, Buffer.from(textOf(one)), keys.get(one.signingKeyId), Buffer.from(one.signature, "base64"));
  const hashes = new Map([...own, ...outside].map((one) => [one, sha256(textOf(one))]));
  const isOf = (one) => one.chainKind === chain.kind && one.chainId === chain.id;
  const diverged = new Set();
  let [last, time] = [undefined, 0];
  const times = new Map(outside.map((one) => [one, timeOf(one)]));
  for (const one of own) {
    times.set(one, time = Math.max(time, timeOf(one)));
    if (!isOf(one)) { diverged.add(hashes.get(one)); continue; }
    const follows = one.anchorSeq === (last?.anchorSeq ?? 0) + 1 && one.prevAnchorHash === (last ? hashes.get(last) : null);
    const unvouched = last && isPrune(last) && last.signature === null ? [last] : [];
    if (!follows) [one, ...unvouched].forEach((each) => diverged.add(hashes.get(each)));
    last = one;
  }
  const all = [...new Map([...outside, ...own].map((one) => [`${hashes.get(one)} ${one.signature}`, one])).values()]
    .sort((a, b) => a.anchorSeq - b.anchorSeq);
  const ours = all.filter(isOf);
  for (const one of ours) for (const other of outside)
    if (other.anchorSeq === one.anchorSeq && hashes.get(other) !== hashes.get(one)) [one, other].forEach((each) => diverged.add(hashes.get(each)));
  const firstSigned = Math.min(...ours.filter(({ signature }) => signature !== null).map(({ anchorSeq }) => anchorSeq));
  const firstUse = new Map();
  for (const one of ours) if (one.signature !== null && !firstUse.has(one.signingKeyId) && isValid(one)) firstUse.set(one.signingKeyId, one);
  const isSuperseded = (one) => [...firstUse.values()].some((first) => first.anchorSeq < one.anchorSeq &&
    first.anchorSeq > (firstUse.get(one.signingKeyId) ?? one).anchorSeq && times.get(one) - timeOf(first) > DAY);
  const isBadlySigned = (one) => one.signature === null ? one.anchorSeq > firstSigned : keys.size > 0 && (!isValid(one) || isSuperseded(one));
  const anchors = ours.filter((one) => !isPrune(one));
  const [fileSeqs, fileHashes] = [outside.map(({ anchorSeq }) => anchorSeq), outside.map((one) => hashes.get(one))];
  let [through, records] = [0, 0];
  const pruneFault = (one) => {
    if (!isOf(one)) return "prune_of_another_chain";
    const [isLate, reached] = [one.restates === true && records > 0, through];
    records += 1;
    through = Math.max(through, one.prunedThroughSeq);
    if (isBadlySigned(one)) return one.signature === null ? "prune_unsigned" : "prune_signature_invalid";
    if (diverged.has(hashes.get(one))) return "prune_diverged";
    if (one.chainKind !== "organization") return "prune_of_no_organization";
    if (!(Date.parse(one.cutoff) <= Date.parse(one.prunedAt) - DAY)) return "prune_too_young";
    if (isLate || one.prunedThroughSeq <= reached) return "prune_out_of_order";
    const between = fileSeqs.some((seq) => seq < one.anchorSeq) && fileSeqs.some((seq) => seq > one.anchorSeq);
    if (between && one.signature !== null && !fileHashes.includes(hashes.get(one))) return "prune_not_in_file";
    const beyond = anchors.some(({ anchoredAt, headChainSeq }) => Date.parse(anchoredAt) > Date.parse(one.cutoff) + DAY &&
      headChainSeq < one.prunedThroughSeq && !(one.restates && headChainSeq === 0));
    return beyond ? "prune_beyond_anchor" : undefined;
  };
  const prunes = all.filter(isPrune).map((record) => ({ record, fault: pruneFault(record) }));
  const problemsOf = (one) => [isBadlySigned(one) && "signature_invalid", diverged.has(hashes.get(one)) && "hash_diverged"];
  const problems = all.filter((one) => !isPrune(one)).flatMap((one) =>
    problemsOf(one).flatMap((reason) => reason ? [{ anchorSeq: one.anchorSeq, reason, hash: hashes.get(one) }] : []));
  const [counting, faulty] = [prunes.filter(({ fault }) => !fault).map(({ record }) => record), prunes.filter(({ fault }) => fault)];
  return { anchors, counting, faulty, problems, hashes };
}
/** `lines` are the parsed lines of a bundle, `outside` those of an anchor file. Throws when it is no whole bundle. */
export async function verifyBundle(lines, outside = [], publicKeys = []) {
  const input = lines[Symbol.asyncIterator]?.() ?? lines[Symbol.iterator]();
  const next = async () => (await input.next()).value ?? { type: "cut off" };
  const { type, format, chain } = await next();
  if (type !== "bundle" || format !== 2) throw new Error("no bundle of format 2");
  let [line, last, own] = [await next(), undefined, []];
  for (; line.type === "anchor" || line.type === "prune"; line = await next()) own.push(line[line.type]);
  const kept = outside.filter((one) => one.chainKind === chain.kind && one.chainId === chain.id);
  const { anchors, counting, faulty, problems, hashes } = judgeStatements(chain, own, kept, publicKeys);
  const breaks = faulty.map(({ record, fault }) => ({ kind: "prefix_unexplained", chainSeq: record.prunedThroughSeq + 1, actual: fault }));
  const [wanted, live, count] = [new Set(anchors.map(({ headChainSeq }) => headChainSeq)), new Map(), { entry: 0, unsealed: 0 }];
  for (; line.type === "entry" || line.type === "unsealed"; line = await next()) {
    count[line.type] += 1;
    if (line.type === "unsealed") { breaks.push({ kind: "unsealed_row", chainSeq: null, auditId: line.row.id }); continue; }
    const { row, ...link } = line.entry;
    const found = (kind) => breaks.push({ kind, chainSeq: link.chainSeq });
    const before = counting.find(({ prunedThroughSeq }) => prunedThroughSeq === link.chainSeq - 1);
    let prev = link.prevHash;
    if (last) {
      if (link.chainSeq !== last.chainSeq + 1) found("sequence_gap");
      if (prev !== last.chainHash) found("link_mismatch");
    } else if (link.chainSeq !== 1 || prev !== null) {
      const isTold = before ? prev === null || prev === before.prunedThroughHash : faulty.some(({ record }) => record.prunedThroughSeq === link.chainSeq - 1);
      if (!isTold) found("prefix_unexplained");
      prev ??= before?.prunedThroughHash ?? null;
    }
    if (chainHash(chain, link, prev) !== link.chainHash) found("chain_hash_mismatch");
    if (row === null) found("missing_row");
    else if (contentHash(row) !== link.contentHash || row.checksum !== link.contentHash || row.id !== link.auditId || !isIn(chain, row)) found("content_mismatch");
    if (wanted.has(link.chainSeq)) live.set(link.chainSeq, link.chainHash);
    last = link;
  }
  if (line.type !== "end" || !(await input.next()).done) throw new Error("cut off, or not in order");
  if (line.entries !== count.entry || line.unsealed !== count.unsealed) breaks.push({ kind: "lines_missing", chainSeq: null });
  for (const { anchorSeq, headChainSeq: seq, headChainHash, ...rest } of anchors) {
    const hash = live.get(seq) ?? counting.find(({ prunedThroughSeq }) => prunedThroughSeq === seq)?.prunedThroughHash;
    const reason = seq === 0 || (hash === undefined && counting.some(({ prunedThroughSeq }) => seq <= prunedThroughSeq)) ? undefined
      : hash === undefined ? ((last?.chainSeq ?? 0) < seq ? "seq_regressed" : "anchored_entry_missing")
        : hash === headChainHash ? undefined : "hash_diverged";
    const own = hashes.get(anchors.find((one) => one.anchorSeq === anchorSeq && one.anchoredAt === rest.anchoredAt));
    if (reason && !problems.some((one) => one.reason === reason && one.hash === own)) problems.push({ anchorSeq, reason });
  }
  return { ok: breaks.length + problems.length === 0, breaks, problems: problems.map(({ hash: _hash, ...problem }) => problem) };
}
async function* linesOf(path) {
  const [file, utf8] = [createReadStream(path), new TextDecoder("utf-8", { fatal: true })];
  let rest = "";
  for await (const chunk of path.endsWith(".gz") ? pipeline(file, createGunzip(), () => undefined) : file) {
    const lines = (rest + utf8.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
  if ((rest += utf8.decode())) yield JSON.parse(rest);
}
async function main([bundle, ...argv]) {
  const flag = (name) => argv.flatMap((word, at) => (word === name ? [argv[at + 1]] : []));
  const parsed = (line) => { try { return [JSON.parse(line)]; } catch { return []; } };
  const read = (path) => readFileSync(path, "utf8").split("\n").flatMap(parsed);
  const result = await verifyBundle(linesOf(bundle), flag("--anchor-file").flatMap(read), flag("--public-key"));
  console.log(JSON.stringify(result));
  return result.ok ? 0 : 11;
}
const isRun = process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isRun) process.exitCode = await main(process.argv.slice(2)).catch(({ message }) => (console.error(message), 12));
