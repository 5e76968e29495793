import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enrollFleet } from "#fixtures/simulators/agent/fleet";
import { createClient } from "#sdk/client";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Actor, actorOf, ways } from "./actors.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

const FLEET = 10;

describe.each(databases)("enrolling a fleet, on %s", (database) => {
  let server: TestServer;
  let rmm: Rmm;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database, { AGENT_ENROLL_RATE_LIMIT: "1000" });
    const { partnerId } = await seedPartner(server, "acme", ["acme-west", "acme-east"]);
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
    rmm = rmmHere({ RMM_SERVER: server.url, RMM_TOKEN: token });
  });
  afterAll(async () => {
    rmm.close();
    await server.stop();
  });

  const hostnames = (devices: { hostname: string }[]) => devices.map(({ hostname }) => hostname).toSorted();
  const out = async (...argv: string[]) => JSON.parse((await rmm.run([...argv, "--json"])).stdout);

  describe.each([
    ["the SDK", "acme-west"],
    ["the rmm process", "acme-east"],
  ] as const)("with a key minted through %s", (way, slug) => {
    let actor: Actor;
    let orgId: string;
    let enrolled: string[];

    beforeAll(async () => {
      actor = actorOf(way, server.url, token);
      const orgs = await actor.call("organizations", "listAccessible");
      orgId = orgs.find((org: { slug: string }) => org.slug === slug).id;
      const site = await actor.call("sites", "create", { body: { orgId, name: "HQ" } });
      const body = { orgId, siteId: site.id, name: "rollout", maxUsage: FLEET };
      const { key } = await actor.call("enrollmentKeys", "create", { body });
      const options = { baseUrl: server.url, enrollmentKey: key, now: () => server.clock.nowMs(), seed: slug };
      const fleet = await enrollFleet({ ...options, count: FLEET });
      expect(fleet.refused).toEqual([]);
      expect(await fleet.heartbeatAll()).toBe(0);
      enrolled = fleet.agents.map(({ machine }) => machine.hostname).toSorted();
      const late = await enrollFleet({ ...options, seed: "late", count: 1 });
      expect(late.refused).toMatchObject([{ error: { status: 401 } }]);
    });
    afterAll(() => actor.close());

    it("every device is at its site and online, and the used-up key enrolls no other", async () => {
      const devices = await actor.call("devices", "list", { query: { orgId } });
      expect(hostnames(devices)).toEqual(enrolled);
      for (const device of devices) expect(device).toMatchObject({ orgId, siteName: "HQ", status: "online" });
      const shown = await actor.call("devices", "get", { params: { id: devices[0].id } });
      expect(shown).toMatchObject({ id: devices[0].id, hostname: devices[0].hostname });
    });

    it("cursors, page numbers and one large page give the same devices", async () => {
      const client = createClient({ baseUrl: server.url, credentials: { token } });
      const byCursor = await client.devices.list({ query: { orgId, limit: 3 } }).toArray();
      const byNumber = await client.devices.list({ query: { orgId, page: 1, limit: 3 } }).toArray();
      expect([hostnames(byCursor), hostnames(byNumber)]).toEqual([enrolled, enrolled]);
      const flags = ["--org", slug];
      expect(hostnames(await out("devices", "list", ...flags, "--all"))).toEqual(enrolled);
      const pages = [1, 2, 3, 4].map((page) =>
        out("devices", "list", ...flags, "--page", String(page), "--limit", "3"),
      );
      expect((await Promise.all(pages)).map((page) => page.length)).toEqual([3, 3, 3, 1]);
      expect(hostnames((await Promise.all(pages)).flat())).toEqual(enrolled);
    });
  });

  it("a truncated list says so on stderr, and stdout has only the rows", async () => {
    const { stdout, stderr } = await rmm.run(["devices", "list", "--limit", "3"]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(stderr).toContain(`3 of ${FLEET * ways.length}; use --all`);
  });
});
