import { expect } from "vitest";
import { auditHandle } from "#server/audit/handle";
import { verifyOptions } from "#server/audit/keeper";
import { listChains } from "#server/audit/list-chains";
import { verifyInWorker } from "#server/audit/verify-in-worker";
import { type Ledger, type Made, type Mutation, type Noun, promisesNothing, sendMutation } from "./load.ts";
import { type Installation, type ServerProcess, until } from "./processes.ts";

/** The idempotency key of a request that died is reserved for a minute. */
const KEY_FREE_MS = 180_000;

const tables = { organization: "organizations", site: "sites", contact: "contacts" } as const;
const load = /^w\d+-\d+$/;

/** Releases idempotency keys of dead requests, as the server does after a minute. */
export async function forgetDeadRuns({ db }: Installation): Promise<void> {
  const past = "2026-01-01T00:00:00.000Z";
  await db.updateTable("idempotencyKeys").set({ expiresAt: past }).where("state", "=", "running").execute();
}

/** Finds the outcome of every mutation without an answer: repeats it if it has an idempotency key, else reads the row. */
export async function settleDoubts(
  { installation, server, token }: { installation: Installation; server: ServerProcess; token(): string },
  ledger: Ledger,
): Promise<void> {
  for (const mutation of ledger.doubts) {
    if (mutation.key === undefined) {
      const row = await findByName(installation, mutation);
      if (row) ledger.count(mutation, row.id);
      continue;
    }
    await until(
      `an answer to ${mutation.path} with the key it was sent with`,
      async () => {
        const answer = await sendMutation(server, token(), mutation);
        if (promisesNothing(answer)) return false;
        if (answer.status < 300) ledger.acknowledge(mutation, answer);
        else ledger.unexpected.push(`${mutation.path}, again: ${answer.status} ${JSON.stringify(answer.body)}`);
        return true;
      },
      { timeoutMs: KEY_FREE_MS, alive: server },
    );
  }
}

const findByName = ({ db }: Installation, { noun, name }: Mutation) =>
  db.selectFrom(tables[noun]).select("id").where("name", "=", name).executeTakeFirst();

/** Expects every acknowledged row, and no other row of the load. */
export async function checkRows({ db }: Installation, { made }: Ledger): Promise<void> {
  for (const noun of Object.keys(tables) as Noun[]) {
    const rows = await db.selectFrom(tables[noun]).select(["id", "name"]).execute();
    const stored = rows.filter(({ name }) => load.test(name ?? "")).map(({ id, name }) => `${id} ${name}`);
    const promised = made.filter((row) => row.noun === noun).map(({ id, name }) => `${id} ${name}`);
    expectSame(`${noun} rows`, stored, promised);
  }
}

/** Expects exactly one audit entry for each creation and change, and no others. */
export async function checkEntries(installation: Installation, { made, requestIds }: Ledger): Promise<void> {
  await installation.settled();
  const entries = await auditHandle(installation.db)
    .selectFrom("auditLogs")
    .select(["action", "resourceId", "details"])
    .where("result", "=", "success")
    .where(
      "action",
      "in",
      Object.keys(tables).flatMap((noun) => [`${noun}.create`, `${noun}.update`]),
    )
    .execute();
  const written = entries.map(({ action, resourceId }) => `${action} ${resourceId}`);
  expectSame("audit entries", written, made.flatMap(entriesOf));
  const told = entries.map(({ details }) => (JSON.parse(details) as { requestId: string }).requestId);
  expect(new Set(told).size, "no request has two entries").toBe(told.length);
  const missing = requestIds.filter((id) => !told.includes(id));
  expect(missing, "acknowledged requests without an entry").toEqual([]);
}

const entriesOf = ({ noun, id, updates }: Made): string[] => [
  `${noun}.create ${id}`,
  ...Array.from({ length: updates }, () => `${noun}.update ${id}`),
];

/** Expects exactly one event for each creation and change of an organization or site, and no others. */
export async function checkEvents({ db }: Installation, { made }: Ledger): Promise<void> {
  const stored = await db.selectFrom("events").select(["kind", "subjectId"]).execute();
  const promised = made
    .filter(({ noun }) => noun !== "contact")
    .flatMap(({ noun, id, updates }) => [
      `${noun}.created ${id}`,
      ...Array.from({ length: updates }, () => `${noun}.updated ${id}`),
    ]);
  const told = stored.map(({ kind, subjectId }) => `${kind} ${subjectId}`);
  expectSame("events", told, promised);
}

function expectSame(what: string, found: readonly string[], promised: readonly string[]): void {
  const count = new Map<string, number>();
  for (const item of promised) count.set(item, (count.get(item) ?? 0) + 1);
  for (const item of found) count.set(item, (count.get(item) ?? 0) - 1);
  const differing = [...count].filter(([, left]) => left !== 0);
  const lost = differing.filter(([, left]) => left > 0).map(([item]) => item);
  const extra = differing.filter(([, left]) => left < 0).map(([item]) => item);
  expect({ lost, extra }, what).toEqual({ lost: [], extra: [] });
  expect(found.length).toBe(promised.length);
}

/** Verifies the chains of these organizations through the API, then every chain of the database. */
export async function checkChains(
  { services, db }: Installation,
  { server, token, orgIds }: { server: ServerProcess; token: string; orgIds: readonly string[] },
): Promise<void> {
  for (const orgId of orgIds) {
    const { status, body } = await server.request("POST", "/audit-logs/verify", { token, body: { orgId } });
    expect({ status, ok: body.ok, breaks: body.breaks }, `chain of ${orgId}`).toEqual({
      status: 200,
      ok: true,
      breaks: [],
    });
    expect(body.entriesChecked).toBeGreaterThan(0);
  }
  const chains = [];
  for await (const chain of listChains(auditHandle(db))) chains.push(chain);
  let checked = 0;
  for await (const result of verifyInWorker(verifyOptions(services), chains)) {
    expect({ ok: result.ok, breaks: result.breaks, problems: result.anchors.problems }).toEqual({
      ok: true,
      breaks: [],
      problems: [],
    });
    checked += result.entriesChecked;
  }
  expect(checked).toBeGreaterThan(0);
}
