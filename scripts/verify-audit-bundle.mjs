// A second verifier of audit bundles, from server/docs/audit-format.md, with nothing but Node, for bundles of any length.
// Prints breaks and problems as JSON. Exit 0: holds; 11: broken; 12: not provable, or no whole bundle; 2: wrong arguments.
import { createHash, verify } from "node:crypto";
import { createReadStream, readFileSync, realpathSync } from "node:fs";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createGunzip } from "node:zlib";
const [DAY, kinds] = [86_400_000, ["system", "partner", "organization"]];
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
const jcs = (object) => `{${Object.keys(object).sort().map((key) => `${JSON.stringify(key)}:${JSON.stringify(object[key])}`)}}`;
const fields = ("id,orgId,partnerId,timestamp,actorType,actorId,actorEmail,action,resourceType,resourceId,resourceName,details," +
  "ipAddress,userAgent,result,errorMessage").split(",");
const isTime = (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && new Date(text).toISOString() === text;
const contentHash = (row) => sha256(JSON.stringify(["al1", ...fields.map((name) =>
  name === "timestamp" ? String(isTime(row.timestamp) ? Date.parse(row.timestamp) : Number.NaN) : row[name])]));
const isIn = ({ kind, id }, { orgId, partnerId }) => kind === kinds[orgId ? 2 : partnerId ? 1 : 0] && id === (orgId ?? partnerId ?? "00000000-0000-0000-0000-000000000000");
const bytes = (hex) => Buffer.from(hex.replaceAll("-", ""), "hex");
const chainHash = ({ kind, id }, { chainSeq, contentHash: own }, prev) => sha256("\x01AC1", Buffer.of(kinds.indexOf(kind)), bytes(id),
  bytes(BigInt(chainSeq).toString(16).padStart(16, "0")), bytes(own), bytes(prev ?? "00".repeat(32)));
const [isPrune, namesOf] = [({ type }) => type === "prune", (faults) => Object.keys(faults).filter((name) => faults[name])];
const textOf = ({ signature: _signature, signingKeyId: _keyId, ...rest }) => jcs(rest);
const timeOf = (statement) => Date.parse(isPrune(statement) ? statement.prunedAt : statement.anchoredAt);
const refuse = (text) => { throw Object.assign(new Error(text), { code: "EUSAGE" }); };
/** Judges statements alone: `faulty` records by reason, and those that count. */
function judgeStatements(chain, own, outside, publicKeys) {
  const keys = new Map(publicKeys.map((text) => Buffer.from(text, "base64")).map((key) => [`anchor-${sha256(key).slice(0, 16)}`, { key, format: "der", type: "spki" }]));
  const isValid = (one) => keys.has(one.signingKeyId) && verify(null, Buffer.from(textOf(one)), keys.get(one.signingKeyId), Buffer.from(one.signature, "base64"));
  const hashes = new Map([...own, ...outside].map((one) => [one, sha256(textOf(one))]));
  const isOf = (one) => one.chainKind === chain.kind && one.chainId === chain.id;
  const [diverged, times] = [new Set(), new Map(outside.map((one) => [one, timeOf(one)]))];
  const diverge = (...ones) => ones.forEach((one) => diverged.add(hashes.get(one)));
  let [last, time, through, records] = [undefined, 0, 0, 0];
  for (const one of own) {
    times.set(one, time = Math.max(time, timeOf(one)));
    if (!isOf(one)) { diverge(one); continue; }
    const follows = one.anchorSeq === (last?.anchorSeq ?? 0) + 1 && one.prevAnchorHash === (last ? hashes.get(last) : null);
    if (!follows) diverge(one, ...(last && isPrune(last) && last.signature === null ? [last] : []));
    last = one;
  }
  const all = [...new Map([...outside, ...own].map((one) => [`${hashes.get(one)} ${one.signature}`, one])).values()].sort((a, b) => a.anchorSeq - b.anchorSeq);
  const [ours, anchors] = [all.filter(isOf), all.filter((one) => isOf(one) && !isPrune(one))];
  for (const one of ours) for (const other of outside) if (other.anchorSeq === one.anchorSeq && hashes.get(other) !== hashes.get(one)) diverge(one, other);
  const [firstSigned, firstUse] = [Math.min(...ours.flatMap(({ signature, anchorSeq }) => signature === null ? [] : [anchorSeq])), new Map()];
  for (const one of ours) if (one.signature !== null && !firstUse.has(one.signingKeyId) && isValid(one)) firstUse.set(one.signingKeyId, one);
  const isSuperseded = (one) => [...firstUse.values()].some((first) => first.anchorSeq < one.anchorSeq &&
    first.anchorSeq > (firstUse.get(one.signingKeyId) ?? one).anchorSeq && times.get(one) - timeOf(first) > DAY);
  const isForeign = (one) => one.signature !== null && keys.size > 0 && !keys.has(one.signingKeyId);
  const isBadlySigned = (one) => one.signature === null ? one.anchorSeq > firstSigned : keys.has(one.signingKeyId) && (!isValid(one) || isSuperseded(one));
  const pruneFault = (one) => {
    if (!isOf(one)) return "prune_of_another_chain";
    const [isLate, reached] = [one.restates === true && records > 0, through];
    [records, through] = [records + 1, Math.max(through, one.prunedThroughSeq)];
    const between = outside.some(({ anchorSeq }) => anchorSeq < one.anchorSeq) && outside.some(({ anchorSeq }) => anchorSeq > one.anchorSeq);
    const isKept = outside.some((other) => hashes.get(other) === hashes.get(one));
    const isBefore = ({ anchoredAt, headChainSeq }) => Date.parse(anchoredAt) > Date.parse(one.cutoff) + DAY &&
      headChainSeq < one.prunedThroughSeq && !(one.restates && headChainSeq === 0);
    return namesOf({
      unknown_key: isForeign(one), prune_unsigned: one.signature === null && isBadlySigned(one), prune_signature_invalid: isBadlySigned(one),
      prune_diverged: diverged.has(hashes.get(one)), prune_of_no_organization: one.chainKind !== "organization",
      prune_too_young: !(Date.parse(one.cutoff) <= Date.parse(one.prunedAt) - DAY), prune_out_of_order: isLate || one.prunedThroughSeq <= reached,
      prune_not_in_file: between && one.signature !== null && !isKept, prune_beyond_anchor: anchors.some(isBefore),
    })[0];
  };
  const prunes = all.filter(isPrune).map((record) => ({ record, fault: pruneFault(record) }));
  const faultsOf = (one) => namesOf({ unknown_key: isForeign(one), signature_invalid: isBadlySigned(one), hash_diverged: diverged.has(hashes.get(one)) });
  const problems = all.filter((one) => !isPrune(one)).flatMap((one) => faultsOf(one).map((reason) => ({ anchorSeq: one.anchorSeq, reason, hash: hashes.get(one) })));
  const signatures = keys.size === 0 ? "not judged: no key was given" : `${all.filter(isValid).length} of ${all.length} verified`;
  const [faulty, counting] = [prunes.filter(({ fault }) => fault), prunes.flatMap(({ record, fault }) => fault ? [] : [record])];
  return { anchors, counting, faulty, problems, hashes, signatures };
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
  const { anchors, counting, faulty, problems, hashes, signatures } = judgeStatements(chain, own, kept, publicKeys);
  const breaks = faulty.map(({ record, fault }) => ({ kind: "prefix_unexplained", chainSeq: record.prunedThroughSeq + 1, actual: fault }));
  const unsigned = (record) => publicKeys.length > 0 && record?.signature === null ? [{ kind: "prune_unproven", chainSeq: record.prunedThroughSeq + 1 }] : [];
  const [wanted, live, count] = [new Set(anchors.map(({ headChainSeq }) => headChainSeq)), new Map(), { entry: 0, unsealed: 0 }];
  for (; line.type === "entry" || line.type === "unsealed"; line = await next()) {
    count[line.type] += 1;
    if (line.type === "unsealed") { breaks.push({ kind: "unsealed_row", chainSeq: null, auditId: line.row.id }); continue; }
    const { row, ...link } = line.entry;
    const found = (kind, actual) => breaks.push({ kind, chainSeq: link.chainSeq, actual });
    const before = counting.find(({ prunedThroughSeq }) => prunedThroughSeq === link.chainSeq - 1);
    let prev = link.prevHash;
    if (last) {
      if (link.chainSeq !== last.chainSeq + 1) found("sequence_gap");
      if (prev !== last.chainHash) found("link_mismatch");
    } else if (link.chainSeq !== 1 || prev !== null) {
      const isTold = before ? prev === null || prev === before.prunedThroughHash : faulty.some(({ record }) => record.prunedThroughSeq === link.chainSeq - 1);
      if (!isTold) found("prefix_unexplained", before ? undefined : "no_record");
      breaks.push(...unsigned(before ?? counting.at(-1)));
      prev ??= before?.prunedThroughHash ?? null;
    }
    if (chainHash(chain, link, prev) !== link.chainHash) found("chain_hash_mismatch");
    if (row === null) found("missing_row");
    else if (contentHash(row) !== link.contentHash || row.checksum !== link.contentHash || row.id !== link.auditId || !isIn(chain, row)) found("content_mismatch");
    if (wanted.has(link.chainSeq)) live.set(link.chainSeq, link.chainHash);
    last = link;
  }
  if (!last) breaks.push(...unsigned(counting.at(-1)));
  if (line.type !== "end" || !(await input.next()).done) throw new Error("cut off, or not in order");
  if (line.entries !== count.entry || line.unsealed !== count.unsealed) breaks.push({ kind: "lines_missing", chainSeq: null });
  for (const { anchorSeq, headChainSeq: seq, headChainHash, own } of anchors.map((one) => ({ ...one, own: hashes.get(one) }))) {
    const hash = live.get(seq) ?? counting.find(({ prunedThroughSeq }) => prunedThroughSeq === seq)?.prunedThroughHash;
    const isGone = seq > 0 && hash === undefined && !counting.some(({ prunedThroughSeq }) => seq <= prunedThroughSeq);
    const [reason] = namesOf({ seq_regressed: isGone && (last?.chainSeq ?? 0) < seq, anchored_entry_missing: isGone,
      hash_diverged: seq > 0 && hash !== undefined && hash !== headChainHash });
    if (reason && !problems.some((known) => known.reason === reason && known.hash === own)) problems.push({ anchorSeq, reason });
  }
  const isLack = ({ kind, reason, actual }) => ["unknown_key", "prune_unproven", "no_record"].includes(actual ?? reason ?? kind);
  const verdict = breaks.length + problems.length === 0 ? "ok" : [...breaks, ...problems].every(isLack) ? "not_provable" : "broken";
  return { ok: verdict === "ok", verdict, signatures, breaks, problems: problems.map(({ hash: _hash, ...problem }) => problem) };
}
async function* linesOf(path) {
  let [file, utf8, rest] = [createReadStream(path), new TextDecoder("utf-8", { fatal: true }), ""];
  for await (const chunk of path.endsWith(".gz") ? pipeline(file, createGunzip(), () => undefined) : file) {
    const lines = (rest + utf8.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
  if ((rest += utf8.decode())) yield JSON.parse(rest);
}
async function main(args) {
  const [many, help] = [{ type: "string", multiple: true, default: [] }, { type: "boolean", short: "h" }];
  const { positionals, values } = parseArgs({ args, allowPositionals: true, options: { "anchor-file": many, "public-key": many, trust: many, help } });
  if (values.help) return console.log(usage) ?? 0;
  if (positionals.length !== 1) refuse(positionals.length === 0 ? "No bundle is named" : `Unknown argument ${positionals[1]}`);
  const read = (path) => readFileSync(path, "utf8").split("\n").map((line) => line.trim()).filter((line) => line && !line.startsWith("#"));
  const parsed = (line) => { try { return [JSON.parse(line)]; } catch { return []; } };
  const keysIn = (path) => ((found) => found.length > 0 ? found : refuse(`${path} holds no key`))(read(path));
  const keys = [...values["public-key"], ...values.trust.flatMap(keysIn)];
  for (const key of keys) if (!/^MCowBQYDK2VwAyEA[\w+/]{43}=$/.test(key)) refuse(`No Ed25519 public key in SPKI and base64: ${key}`);
  const result = await verifyBundle(linesOf(positionals[0]), values["anchor-file"].flatMap(read).flatMap(parsed), keys);
  console.log(JSON.stringify(result));
  return { ok: 0, broken: 11, not_provable: 12 }[result.verdict];
}
const usage = "Usage: node verify-audit-bundle.mjs BUNDLE[.gz] [--public-key SPKI_BASE64]… [--trust FILE]… [--anchor-file FILE]…";
const failed = ({ code = "", name, message }) => {
  const said = /^E/.test(code) || (code === "" && name === "Error") ? message : "no audit bundle, or damaged: a line is not what a bundle has there";
  console.error(/^(ERR_PARSE|EUSAGE)/.test(code) ? `${said}\n${usage}` : said);
  return /^(ERR_PARSE|E[A-Z]+$)/.test(code) ? 2 : 12;
};
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2)).catch(failed);
