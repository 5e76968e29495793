import { readFileSync, truncateSync } from "node:fs";
import { expect, it } from "vitest";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { type ChainStatement, statementHash } from "#server/audit/anchor-format";
import { verifyBundle } from "#server/audit/bundle";
import { auditHandle } from "#server/audit/handle";
import { verifyOptions } from "#server/audit/keeper";
import { listChains } from "#server/audit/list-chains";
import { statementsAfter } from "#server/audit/statements";
import { verifyInWorker } from "#server/audit/verify-in-worker";
import { faultSeed } from "../fault/killable.ts";
import { type Installation, renewed, type ServerProcess, until, withInstallation } from "../fault/processes.ts";
import { type DatabaseName, databases, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../proving.ts";
import { addEntries } from "./many-entries.ts";

const KILLS = inProof({ long: 100, short: 3 });
/** Two transactions of the embedded database's retention. */
const EACH = 1_200;
const DAY = 24 * 60 * 60 * 1_000;

it.concurrent.each(databases)(
  `kill -9 amid ${KILLS} prunes, anchors and exports leaves a record that holds, and an anchor file that says the same, on %s (seed ${faultSeed})`,
  { timeout: PROOF_TIMEOUT_MS },
  (database: DatabaseName) =>
    withInstallation(database, { migrated: true }, (installation) => story(installation, database)),
);

async function story(installation: Installation, database: DatabaseName): Promise<void> {
  const random = seededRandom(`${faultSeed} ${database}`);
  const often = { "audit.anchors": 0.2, "audit.retention": 0.2, lease: 0.5 };
  const env = {
    WORKER_INTERVALS: JSON.stringify(often),
    ...(database === "postgres" ? { AUDIT_ADMIN_DATABASE_URL: installation.env["DATABASE_URL"] as string } : {}),
  };
  let server = await installation.start(env);
  const { partnerId, orgIds } = await seedPartner(installation, "killed", ["pruned", "kept"]);
  const [pruned, kept] = orgIds as [string, string];
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const old = new Date(Date.now() - 2 * DAY).toISOString();
  await addEntries(installation, { orgId: kept, partnerId, count: EACH }, old);
  const [createdAt, retentionDays] = [new Date().toISOString(), 1];
  const policy = { orgId: pruned, retentionDays, lastCleanupAt: null, createdAt, updatedAt: createdAt };
  await installation.db.insertInto("auditRetention").values(policy).execute();
  const torn: string[] = [];
  const exports: string[] = [];
  for (let kills = 0; kills < KILLS; kills += 1) {
    await addEntries(installation, { orgId: pruned, partnerId, count: EACH }, old);
    const taking = taken(server, `/api/v1/audit-logs/bundle?orgId=${kept}`, renewed(installation, admin.token));
    await new Promise((resolve) => setTimeout(resolve, random.int(0, 1_200)));
    await server.kill();
    exports.push(await taking);
    const line = tornLine(installation.services.config.anchorFile, random);
    if (line !== undefined) torn.push(line);
    server = await installation.start(env);
  }
  await until("everything old is removed", async () => (await entriesOf(installation, pruned, old)) === 0, {
    alive: server,
  });
  expect(await server.stop(), server.log()).toBe(0);
  await checkRecord(installation);
  await checkFile(installation, torn);
  await checkExports(exports);
}

/** As much of the answer as came. */
async function taken(server: ServerProcess, path: string, token: string): Promise<string> {
  let text = "";
  try {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 200) return "";
    const decoder = new TextDecoder();
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) text += decoder.decode(chunk, { stream: true });
  } catch {
    // The server was killed.
  }
  return text;
}

/** A crash of the machine may leave a part of the last line: every other time one is cut so. Returns what is left of it. */
function tornLine(path: string, random: { int(min: number, max: number): number }): string | undefined {
  const text = readFileSync(path, "utf8");
  if (random.int(0, 1) === 0 || !text.endsWith("\n")) return undefined;
  const start = text.lastIndexOf("\n", text.length - 2) + 1;
  const length = random.int(1, text.length - start - 3);
  truncateSync(path, Buffer.byteLength(text.slice(0, start + length)));
  return text.slice(start, start + length);
}

const entriesOf = async ({ db }: Installation, orgId: string, at: string): Promise<number> => {
  const rows = await auditHandle(db)
    .selectFrom("auditLogs")
    .select("id")
    .where("orgId", "=", orgId)
    .where("timestamp", "=", at)
    .limit(1)
    .execute();
  return rows.length;
};

async function checkRecord({ db, services }: Installation): Promise<void> {
  const chains = [];
  for await (const chain of listChains(auditHandle(db))) chains.push(chain);
  expect(chains.length).toBeGreaterThan(2);
  for await (const { ok, breaks, anchors } of verifyInWorker(verifyOptions(services), chains))
    expect({ ok, breaks, problems: anchors.problems }).toEqual({ ok: true, breaks: [], problems: [] });
  expect(await db.selectFrom("auditIncidents").selectAll().execute()).toEqual([]);
}

/** Each statement once at least, nothing else but torn lines, and each of those on a line of its own. */
async function checkFile({ db, services }: Installation, torn: readonly string[]): Promise<void> {
  const lines = readFileSync(services.config.anchorFile, "utf8").split("\n");
  expect(lines.pop(), "the last line is whole").toBe("");
  const read = lines.map((line) => {
    try {
      return JSON.parse(line) as ChainStatement;
    } catch {
      return line;
    }
  });
  // Two that append at once may both end a torn line: then an empty one stands between them.
  const fragments = read.filter((line) => typeof line === "string" && line !== "");
  expect(fragments.toSorted()).toEqual([...torn].toSorted());
  const inFile = read.filter((line) => typeof line !== "string" && "chainKind" in line) as ChainStatement[];
  const inDatabase: ChainStatement[] = [];
  for await (const chain of listChains(auditHandle(db)))
    for await (const statement of statementsAfter(auditHandle(db), chain, 0)) inDatabase.push(statement);
  const hashes = (statements: readonly ChainStatement[]) => [...new Set(statements.map(statementHash))].toSorted();
  expect(hashes(inFile)).toEqual(hashes(inDatabase));
  expect(
    inDatabase.some((one) => "type" in one),
    "nothing was pruned",
  ).toBe(true);
}

/** A bundle holds, or is refused as incomplete: none is taken for one that was changed. */
async function checkExports(texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    const verdict = await verifyBundle(linesOf(text)).then(
      ({ ok }) => (ok ? "holds" : "broken"),
      () => "incomplete",
    );
    expect(verdict).toBe(text.includes('\n{"type":"end"') && text.endsWith("}\n") ? "holds" : "incomplete");
  }
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split("\n");
}
