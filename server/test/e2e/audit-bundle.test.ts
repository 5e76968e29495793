import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Anchor } from "#server/audit/anchor-format";
import { anchorSigner } from "#server/audit/anchor-signing";
import { anchorPublicKey } from "#server/audit/keeper";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

const second = fileURLToPath(new URL("../../../scripts/verify-audit-bundle.mjs", import.meta.url));
const secondOfProofs = fileURLToPath(new URL("../../../scripts/verify-audit-proof.mjs", import.meta.url));
const stranger = anchorSigner(Buffer.alloc(32, 7).toString("base64"));

type Line = { type: string } & Record<string, unknown>;

describe.each(databases)("a bundle from the server, on %s", { timeout: 120_000 }, (database) => {
  let server: TestServer;
  let rmm: Rmm;
  let admin: SignedInUser;
  let orgId: string;
  let partnerId: string;
  let lines: Line[];

  beforeAll(async () => {
    server = await startTestServer(database);
    const seeded = await seedPartner(server, "acme", ["acme-west", "acme-east"]);
    ({ partnerId } = seeded);
    orgId = seeded.orgIds[0] as string;
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    rmm = rmmHere({ RMM_SERVER: server.url, RMM_TOKEN: admin.token });
    const act = async (name: string) => {
      await server.request("POST", "/orgs/sites", { token: admin.token, body: { orgId, name } });
      await server.settled();
    };
    const anchored = () =>
      server
        .request("POST", "/audit-logs/verify", { token: admin.token, body: { orgId } })
        .then(() => server.settled());
    for (const name of ["one", "two", "three", "four"]) await act(name);
    await anchored();
    for (const name of ["five", "six"]) await act(name);
    await anchored();
    writeFileSync(at("anchors.pub"), `# the server's\n${anchorPublicKey(server.services)}\n`);
  });
  afterAll(async () => {
    rmm.close();
    await server.stop();
  });

  const at = (name: string) => join(rmm.dir, name);
  const get = (query: string, { token } = admin) => server.request("GET", `/audit-logs/bundle${query}`, { token });
  const packed = (changed: readonly Line[]) => gzipSync(changed.map((line) => `${JSON.stringify(line)}\n`).join(""));

  it("is written packed, is verified with a file of keys and without a server, and says the same to the second verifier", async () => {
    const made = await rmm.run(["audit", "export", "--bundle", "west.ndjson.gz", "--org", "acme-west", "--json"]);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("SHA-256 of the lines")]);
    const text = gunzipSync(readFileSync(at("west.ndjson.gz"))).toString("utf8");
    lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    expect(JSON.parse(made.stdout)).toMatchObject({ lines: lines.length });
    const kinds = (type: string) => lines.filter((line) => line.type === type).length;
    expect([kinds("anchor"), kinds("entry"), kinds("end")]).toEqual([2, 8, 1]);
    const ran = await rmm.run(["audit", "verify", "west.ndjson.gz", "--trust", "anchors.pub"], {
      env: { RMM_SERVER: "http://127.0.0.1:9", RMM_TOKEN: "" },
    });
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/^OK {2}organization/)]);
    writeFileSync(at("west.ndjson"), text);
    const flags = ["--public-key", anchorPublicKey(server.services) as string];
    expect(spawnSync(process.execPath, [second, at("west.ndjson"), ...flags]).status).toBe(0);
    const again = await rmm.run(["audit", "export", "--bundle", "west.ndjson.gz", "--org", "acme-west"]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("exists already")]);
    const mixed = await rmm.run(["audit", "export", "--bundle", "x.ndjson", "--from", "2026-01-01"]);
    expect(mixed.code).toBe(2);
  });

  /** Each leaves the file well-formed: the last line counts what is there. */
  const probes: readonly [name: string, code: number, change: (all: Line[]) => Line[]][] = [
    ["an entry edited", 11, (all) => edited(all, 3, (row) => ({ ...row, action: "nothing.happened" }))],
    ["an entry dropped", 11, (all) => counted(without(all, placeOf(all, 3)))],
    ["two entries reordered", 11, (all) => swapped(all, placeOf(all, 2), placeOf(all, 3))],
    ["the contents of two entries swapped", 11, (all) => exchanged(all, 2, 4)],
    ["the tail dropped", 11, (all) => counted(all.filter((line) => !(line.type === "entry" && seqOf(line) > 5)))],
    ["an entry dropped, and counted still", 11, (all) => without(all, placeOf(all, 3))],
    [
      "the newest entries dropped with their anchor, and counted still",
      11,
      (all) => all.filter((line) => !isAfter(line, 4)),
    ],
    ["the file cut", 12, (all) => all.slice(0, -2)],
    ["the file cut before its last line", 12, (all) => all.slice(0, -1)],
    ["another bundle added", 12, (all) => [...all, ...all]],
    ["anchors signed by a stranger", 12, (all) => all.map(resigned)],
    ["one anchor's signature forged", 11, (all) => all.map((line) => forged(line))],
    ["anchors of another order", 11, (all) => swapped(all, 1, 2)],
  ];
  it.each(probes)("%s: exit %i", async (name, code, change) => {
    writeFileSync(at("probe.ndjson.gz"), packed(change(structuredClone(lines))));
    const ran = await rmm.run(["audit", "verify", "probe.ndjson.gz", "--trust", "anchors.pub"]);
    expect(ran.code, `${name}: ${ran.stdout}${ran.stderr}`).toBe(code);
    if (code === 12 && name !== "anchors signed by a stranger") expect(ran.stderr).toContain("cannot be judged");
    const flags = ["--public-key", anchorPublicKey(server.services) as string];
    expect(spawnSync(process.execPath, [second, at("probe.ndjson.gz"), ...flags]).status, name).toBe(code);
  });

  it("is written by the generic command as it comes, and not taken for whole where it ends early", async () => {
    const made = await rmm.run(["audit-logs", "bundle", "--org", "acme-west"]);
    expect([made.code, made.stdout.endsWith(`${JSON.stringify(lines.at(-1))}\n`)]).toEqual([0, true]);
    const held = await rmm.run(["audit-logs", "bundle", "--org", "acme-west", "--json"]);
    expect([held.code, JSON.parse(held.stdout)]).toEqual([0, made.stdout]);
    const cutting = createServer((_, response) => {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.end(made.stdout.split("\n").slice(0, 4).join("\n"));
    }).listen(0, "127.0.0.1");
    await once(cutting, "listening");
    const env = { RMM_SERVER: `http://127.0.0.1:${(cutting.address() as AddressInfo).port}`, RMM_TOKEN: admin.token };
    try {
      const cut = await rmm.run(["audit-logs", "bundle", "--org", orgId], { env });
      expect([cut.code, cut.stderr]).toEqual([1, expect.stringContaining("ended before its last line")]);
      const file = await rmm.run(["audit", "export", "--bundle", "cut-off.ndjson", "--org", orgId], { env });
      expect([file.code, existsSync(at("cut-off.ndjson"))]).toEqual([1, false]);
    } finally {
      cutting.close();
    }
  });

  it("from which the end was cut with its anchor is caught by a copy of the anchor file, and a replaced copy is caught too", async () => {
    const cut = lines.filter(
      (line) =>
        !(line.type === "entry" && seqOf(line) > 4) && !(line.type === "anchor" && anchorOf(line).anchorSeq === 2),
    );
    writeFileSync(at("cut.ndjson.gz"), packed(counted(cut)));
    const verify = (...more: string[]) =>
      rmm.run(["audit", "verify", "cut.ndjson.gz", "--trust", "anchors.pub", ...more]).then(({ code }) => code);
    expect(await verify()).toBe(0);
    const kept = lines.filter(({ type }) => type === "anchor").map((line) => JSON.stringify(anchorOf(line)));
    writeFileSync(at("kept.ndjson"), `${kept.join("\n")}\n`);
    expect(await verify("--anchor-file", at("kept.ndjson"))).toBe(11);
    const replaced = lines
      .filter(({ type }) => type === "anchor")
      .map((line) => JSON.stringify(anchorOf(resigned(line))));
    writeFileSync(at("replaced.ndjson"), `${replaced.join("\n")}\n`);
    expect([11, 12]).toContain(await verify("--anchor-file", at("replaced.ndjson")));
  });

  it("is verified since an anchor kept elsewhere, which must be signed by a trusted key", async () => {
    const anchors = lines.filter(({ type }) => type === "anchor").map(anchorOf);
    const keep = (name: string, kept: readonly Anchor[]) =>
      writeFileSync(at(name), kept.map((anchor) => `${JSON.stringify(anchor)}\n`).join(""));
    keep("first.ndjson", anchors.slice(0, 1));
    keep(
      "foreign.ndjson",
      anchors.map((anchor) => anchorOf(resigned({ type: "anchor", anchor }))),
    );
    keep("nothing.ndjson", []);
    const since = (name: string, ...what: string[]) =>
      rmm.run(["audit", "verify", ...what, "--since-anchor", name, "--trust", "anchors.pub"]);
    const offline = await since("first.ndjson", "west.ndjson");
    expect([offline.code, offline.stdout]).toEqual([
      0,
      expect.stringMatching(/since {4}anchor 1 of \S+ \(position 4\): 4 newer/),
    ]);
    expect((await since("nothing.ndjson", "west.ndjson")).code).toBe(12);
    expect([11, 12]).toContain((await since("foreign.ndjson", "west.ndjson")).code);
    const live = await since("first.ndjson", "--org", "acme-west", "--json");
    expect([live.code, JSON.parse(live.stdout).since]).toEqual([
      0,
      expect.objectContaining({ anchorSeq: 1, chainSeq: 4 }),
    ]);
    expect((await since("nothing.ndjson", "--org", "acme-west")).code).toBe(12);
    expect((await since("first.ndjson", "west.ndjson", "--anchor-file", "first.ndjson")).code).toBe(2);
  });

  it("is one of the commands of the record: search takes its text as an argument, and retention stands there too", async () => {
    const found = await rmm.run(["audit", "search", "three", "--org", "acme-west", "--json"]);
    expect([found.code, JSON.parse(found.stdout).length]).toEqual([0, 1]);
    expect((await rmm.run(["audit", "search", "three", "--q", "four"])).code).toBe(2);
    const none = await rmm.run(["audit", "search"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--q")]);
    const kept = await rmm.run(["audit", "retention", "get", "acme-west", "--json"]);
    expect([kept.code, JSON.parse(kept.stdout)]).toEqual([0, expect.objectContaining({ retentionDays: 365 })]);
    const stats = await rmm.run(["audit", "stats", "--org", "acme-west", "--json"]);
    const report = await rmm.run(["audit", "report", "stats", "--org", "acme-west", "--json"]);
    expect([stats.code, JSON.parse(stats.stdout)]).toEqual([0, JSON.parse(report.stdout)]);
    expect(JSON.parse(stats.stdout).totalEvents).toBeGreaterThan(6);
  });

  it("that is no gzip, or cut gzip, proves nothing, and a file without keys trusts none", async () => {
    writeFileSync(at("torn.ndjson.gz"), readFileSync(at("west.ndjson.gz")).subarray(0, -200));
    writeFileSync(at("plain.ndjson.gz"), JSON.stringify(lines[0]));
    for (const name of ["torn.ndjson.gz", "plain.ndjson.gz"])
      expect((await rmm.run(["audit", "verify", name, "--trust", "anchors.pub"])).code, name).toBe(12);
    writeFileSync(at("none.pub"), "# nothing\n");
    expect((await rmm.run(["audit", "verify", "west.ndjson.gz", "--trust", "none.pub"])).code).toBe(2);
  });

  it("is not needed for one entry: its proof is judged without a server, by both verifiers", async () => {
    const [first] = lines.filter(({ type }) => type === "entry") as [Line];
    const id = (first["entry"] as { auditId: string }).auditId;
    const made = await rmm.run(["audit", "prove", id, "--json"]);
    expect(made.code).toBe(0);
    const file = JSON.parse(made.stdout);
    expect(Buffer.byteLength(JSON.stringify(file.proof))).toBeLessThanOrEqual(1_024);
    const key = anchorPublicKey(server.services) as string;
    const verdicts = async (changed: unknown) => {
      writeFileSync(at("entry.proof"), JSON.stringify(changed));
      const offline = { env: { RMM_SERVER: "http://127.0.0.1:9", RMM_TOKEN: "" } };
      const ours = await rmm.run(["audit", "verify", "--proof", at("entry.proof"), "--trust", "anchors.pub"], offline);
      return [ours.code, spawnSync(process.execPath, [secondOfProofs, at("entry.proof"), "--public-key", key]).status];
    };
    expect(await verdicts(file)).toEqual([0, 0]);
    expect(await verdicts({ ...file, entry: { ...file.entry, action: "nothing.happened" } })).toEqual([11, 11]);
    expect(await verdicts({ ...file, proof: { ...file.proof, chainSeq: file.proof.chainSeq + 1 } })).toEqual([11, 11]);
    const { anchor } = resigned({ type: "anchor", anchor: { ...file.proof.anchor, merkleRoot: null } }) as never as {
      anchor: Row;
    };
    expect(await verdicts({ ...file, proof: { ...file.proof, anchor } })).toEqual([12, 12]);
    const newest = await server.request("POST", "/orgs/sites", { token: admin.token, body: { orgId, name: "seven" } });
    await server.settled();
    const [{ id: late }] = (await server.db
      .selectFrom("auditLogs")
      .select("id")
      .where("resourceId", "=", newest.body.id)
      .execute()) as [{ id: string }];
    const early = await server.request("GET", `/audit-logs/logs/${late}/proof`, { token: admin.token });
    expect([early.status, early.body.details]).toEqual([409, { status: "not_anchored" }]);
    const nobody = await seedPartner(server, `nobody-${database}`, []);
    const foreign = await server.signIn({ role: "Partner Admin", partnerId: nobody.partnerId });
    expect((await server.request("GET", `/audit-logs/logs/${id}/proof`, { token: foreign.token })).status).toBe(404);
  });

  it("is of a chain that the caller may verify, and its making is recorded", async () => {
    const other = await seedPartner(server, `other-${database}`, []);
    const foreign = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect((await get(`?orgId=${orgId}`, foreign)).body.code).toBe("ORG_ACCESS_DENIED");
    const { siteId } = await server.db
      .selectFrom("sites")
      .select("id as siteId")
      .where("orgId", "=", orgId)
      .executeTakeFirstOrThrow();
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    expect((await get("", confined)).body.code).toBe("SITE_ACCESS_DENIED");
    const customer = await server.signIn({ role: "Org Admin", orgId });
    expect((await get(`?partnerId=${partnerId}`, customer)).body.code).toBe("PARTNER_ACCESS_DENIED");
    expect((await get("?chain=system", customer)).body.code).toBe("FORBIDDEN");
    expect((await get("", admin)).status).toBe(400);
    expect((await get("", customer)).body).toContain(`"id":"${orgId}"`);
    await server.settled();
    const entries = await server.db
      .selectFrom("auditLogs")
      .select(["details", "actorId"])
      .where("action", "=", "audit_logs.export")
      .where("result", "=", "success")
      .execute();
    expect([...new Set(entries.map(({ actorId }) => actorId))].toSorted()).toEqual(
      [admin.userId, customer.userId].toSorted(),
    );
    expect(JSON.parse(entries[0]?.details as string)).toMatchObject({ format: "bundle", chainKind: "organization" });
  });
});

const isAfter = (line: Line, seq: number): boolean =>
  (line.type === "entry" && seqOf(line) > seq) || (line.type === "anchor" && anchorOf(line).anchorSeq === 2);
const seqOf = (line: Line): number => (line["entry"] as { chainSeq: number }).chainSeq;
const anchorOf = (line: Line): Anchor => line["anchor"] as Anchor;
const placeOf = (all: readonly Line[], seq: number): number =>
  all.findIndex((line) => line.type === "entry" && seqOf(line) === seq);
const without = (all: readonly Line[], place: number): Line[] => all.filter((_, at) => at !== place);
const counted = (all: readonly Line[]): Line[] =>
  all.map((line) =>
    line.type === "end" ? { ...line, entries: all.filter(({ type }) => type === "entry").length } : line,
  );

function swapped(all: Line[], one: number, other: number): Line[] {
  [all[one], all[other]] = [all[other] as Line, all[one] as Line];
  return all;
}

type Row = Record<string, unknown>;

function edited(all: Line[], seq: number, change: (row: Row) => Row): Line[] {
  const entry = (all[placeOf(all, seq)] as Line)["entry"] as { row: Row };
  entry.row = change(entry.row);
  return all;
}

function exchanged(all: Line[], one: number, other: number): Line[] {
  const rowOf = (seq: number) => ((all[placeOf(all, seq)] as Line)["entry"] as { row: Row }).row;
  const [first, second] = [rowOf(one), rowOf(other)];
  return edited(
    edited(all, one, () => second),
    other,
    () => first,
  );
}

function resigned(line: Line): Line {
  if (line.type !== "anchor") return line;
  const { signature: _signature, signingKeyId: _key, ...statement } = anchorOf(line);
  return { ...line, anchor: stranger.sign(statement) };
}

function forged(line: Line): Line {
  if (line.type !== "anchor" || anchorOf(line).anchorSeq !== 2) return line;
  return { ...line, anchor: { ...anchorOf(line), signature: anchorOf(line).signature?.replace(/^../, "AA") ?? null } };
}
