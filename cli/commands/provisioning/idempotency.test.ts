import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { nodeTransport } from "#sdk/node";
import type { Transport, TransportRequest } from "#sdk/transport";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../server/test/harness.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
afterAll(() => command.close());
const file = join(command.dir, "book.yaml");
writeFileSync(
  file,
  `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor Dental
    sites: [{ name: HQ }]
    enrollmentKeys: [{ name: rollout, site: HQ, sink: "file:secrets/rollout.key" }]
`,
);

const inFlight = () =>
  new Response(JSON.stringify({ error: "Request with this key is running", code: "IDEMPOTENCY_IN_FLIGHT" }), {
    status: 409,
    headers: { "content-type": "application/json", "retry-after": "1" },
  });

/** A line to the server that remembers the idempotency keys of what it was to carry; `answer` answers instead. */
function line(answer: (request: TransportRequest, count: number) => Response | undefined = () => undefined) {
  const keys: string[] = [];
  const real = nodeTransport();
  let count = 0;
  const transport: Transport = async (request) => {
    const key = request.headers["x-idempotency-key"];
    if (!key?.startsWith("apply-")) return real(request);
    keys.push(key);
    return answer(request, ++count) ?? real(request);
  };
  return { keys, transport };
}

/** The process dies before its first change reaches the server. */
const dead = () => {
  throw Object.assign(new Error("killed"), { code: "ECONNREFUSED" });
};

describe.each(databases)("idempotency keys of rmm apply on %s", (database) => {
  let server: TestServer;
  let credentials: { user: Record<string, string>; key: Record<string, string>; otherKey: Record<string, string> };
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    const { partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    const seeded = await seedPartnerPrincipal(server.db, server.services, partnerId);
    const elsewhere = await seedPartner(server, `q${Math.random().toString(36).slice(2)}`);
    const other = await seedPartnerPrincipal(server.db, server.services, elsewhere.partnerId);
    credentials = {
      user: { RMM_TOKEN: token },
      key: { RMM_API_KEY: seeded.partnerKey },
      otherKey: { RMM_API_KEY: other.partnerKey },
    };
  });

  const run = (
    transport: Transport,
    env: Record<string, string>,
    installation: string,
    flags: readonly string[] = [],
    signal?: AbortSignal,
  ) =>
    command.run(
      ["apply", file, "--yes", "--rate", "0", "--sink-dir", join(command.dir, Math.random().toString(36)), ...flags],
      {
        now: () => server.clock.nowMs(),
        transport,
        ...(signal && { signal }),
        env: { RMM_SERVER: server.url, RMM_CONFIG_DIR: join(command.dir, installation), ...env },
      },
    );

  /** The key under which a run of this installation would create the organization. */
  async function firstKey(env: Record<string, string>, installation: string): Promise<string> {
    const interrupt = new AbortController();
    const { keys, transport } = line(() => {
      interrupt.abort();
      return dead();
    });
    await run(transport, env, installation, [], interrupt.signal);
    expect(new Set(keys).size).toBe(1);
    return keys[0] as string;
  }

  it("repeat from one installation, and are others from another, which has nothing to guess them by", async () => {
    const { user } = credentials;
    const key = await firstKey(user, "one");
    expect(await firstKey(user, "one")).toBe(key);
    expect(await firstKey(user, "two")).not.toBe(key);
    const org = await server.db.selectFrom("organizations").select("id").where("slug", "=", "harbor").execute();
    expect(org).toEqual([]);
    // What anyone knows who knows the file and the tenant does not lead to the key.
    const { partnerId } = await server.db
      .selectFrom("partnerUsers")
      .select("partnerId")
      .innerJoin("sessions", "sessions.userId", "partnerUsers.userId")
      .where("sessions.id", "=", JSON.parse(Buffer.from(user["RMM_TOKEN"]!.split(".")[1]!, "base64url").toString()).sid)
      .executeTakeFirstOrThrow();
    const parts = JSON.stringify([
      "organization",
      partnerId,
      "harbor",
      { name: "Harbor Dental", partnerId, slug: "harbor" },
      0,
    ]);
    expect(key).not.toBe(`apply-${createHash("sha256").update(parts).digest("base64url")}`);
  });

  it("of a partner key repeat wherever the key is used, and are others for another key", async () => {
    const { key, otherKey } = credentials;
    const made = await firstKey(key, "one");
    expect(await firstKey(key, "another runner")).toBe(made);
    expect(await firstKey(otherKey, "one")).not.toBe(made);
  });

  it.each(["user", "key"] as const)(
    "let a rerun by the same %s get the secret that a dead run never saw",
    async (who) => {
      let minted: string | undefined;
      const real = nodeTransport();
      const losing: Transport = async (request) => {
        if (minted !== undefined) return dead();
        const answer = await real(request);
        if (request.method !== "POST" || !request.url.endsWith("/enrollment-keys") || answer.status !== 201)
          return answer;
        minted = (JSON.parse(await answer.text()) as { key: string }).key;
        return dead();
      };
      const died = await run(losing, credentials[who], "one", ["--json"]);
      expect(died.code, died.stderr).toBe(9);
      expect(minted).toMatch(/^[0-9a-f]{64}$/);
      const sinkDir = join(command.dir, `rerun-${database}-${who}`);
      const again = await run(line().transport, credentials[who], "one", ["--sink-dir", sinkDir]);
      expect(again.code, again.stderr).toBe(0);
      expect(readFileSync(join(sinkDir, "secrets/rollout.key"), "utf8").trim()).toBe(minted);
    },
  );

  it("a run that finds an earlier one's request in flight says so at the first wait, goes on, and says it once", async () => {
    const waiting = line((_request, count) => (count <= 2 ? inFlight() : undefined));
    const ran = await run(waiting.transport, credentials.user, "one");
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr.match(/still in flight/g)).toHaveLength(1);
    expect(ran.stderr).toContain("Waiting 1 s: an earlier run's request is still in flight; at most 75 s");
    expect(new Set(waiting.keys.slice(0, 3)).size).toBe(1);
  });
});
