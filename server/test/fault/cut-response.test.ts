import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, type RmmClient } from "#sdk/client";
import { auditHandle } from "#server/audit/handle";
import { enrollmentKeyHash } from "#server/features/credentials/enrollment-keys/key-hash";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../proving.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";

/** Number of cuts before the server has answered. */
const BEFORE_ANSWER = inProof({ long: 100, short: 4 });
/** The answer is cut at every n-th byte; each run begins at another one. */
const EVERY = inProof({ long: 1, short: 11 });
const FIRST = Math.floor(Math.random() * EVERY);

describe.each(databases)("the answer that mints a key, cut in transit, on %s", (database) => {
  let server: TestServer;
  let proxy: CuttingProxy;
  let admin: SignedInUser;
  let orgId: string;
  let retries = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    proxy = await startCuttingProxy(server.url);
  });
  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  const arrange = async (slug: string) => {
    const { partnerId, orgIds } = await seedPartner(server, slug, ["one"]);
    orgId = orgIds[0] as string;
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    retries = 0;
    return createClient({
      baseUrl: proxy.url,
      credentials: { token: admin.token },
      random: () => 0,
      retries: 5,
      retryBudget: { earn: () => undefined, spend: () => true },
      hooks: {
        onRetry() {
          retries += 1;
        },
      },
    });
  };

  const mint = (rmm: RmmClient, name: string) =>
    rmm.enrollmentKeys.create({ body: { name, orgId, maxUsage: 3 } }, { idempotencyKey: `minting ${name}` });

  /** Expects one key per name with the caller's secret, and one audit entry for it. */
  const expectMintedOnce = async (secrets: ReadonlyMap<string, string>) => {
    const rows = await server.db
      .selectFrom("enrollmentKeys")
      .select(["id", "name", "keyHash"])
      .where("orgId", "=", orgId)
      .execute();
    expect(rows.map(({ name }) => name).sort()).toEqual([...secrets.keys()].sort());
    const pepper = server.services.config.enrollmentKeyPeppers[0] as string;
    const other = rows.filter(
      ({ name, keyHash }) => enrollmentKeyHash(pepper, secrets.get(name) as string) !== keyHash,
    );
    expect(other.map(({ name }) => name)).toEqual([]);
    await server.settled();
    const entries = await auditHandle(server.db)
      .selectFrom("auditLogs")
      .select("resourceId")
      .where("orgId", "=", orgId)
      .where("action", "=", "enrollment_key.create")
      .where("result", "=", "success")
      .execute();
    expect(entries.map(({ resourceId }) => resourceId).sort()).toEqual(rows.map(({ id }) => id).sort());
  };

  it(`at byte ${FIRST} and every ${EVERY} after it: repeated with its idempotency key, it mints one key and returns the same secret`, {
    timeout: PROOF_TIMEOUT_MS,
  }, async () => {
    const rmm = await arrange("bytes");
    const whole = await mint(rmm, "cut-whole");
    const size = proxy.passed;
    expect(size).toBeGreaterThan(500);
    const secrets = new Map([["cut-whole", whole.key]]);
    let cuts = 0;
    for (let byte = FIRST; byte < size; byte += EVERY) {
      cuts += 1;
      const name = `cut-${String(byte).padStart(5, "0")}`;
      proxy.cutNextAfter(byte);
      secrets.set(name, (await mint(rmm, name)).key);
    }
    expect(retries).toBe(cuts);
    await expectMintedOnce(secrets);
  });

  it("before the server has answered: the same", { timeout: PROOF_TIMEOUT_MS }, async () => {
    const rmm = await arrange("early");
    const secrets = new Map<string, string>();
    for (let count = 0; count < BEFORE_ANSWER; count += 1) {
      const name = `early-${count}`;
      proxy.cutNextAfter(-1);
      secrets.set(name, (await mint(rmm, name)).key);
    }
    expect(retries).toBeGreaterThanOrEqual(BEFORE_ANSWER);
    await expectMintedOnce(secrets);
  });
});
