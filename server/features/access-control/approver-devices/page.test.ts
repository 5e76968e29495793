import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  approverWith,
  beginRegistering,
  challenge,
  PUBLIC_URL,
  proofFor,
} from "../../../test/access-control/approvers.ts";
import { ElevationWorld, type TestAgent } from "../../../test/access-control/elevation-world.ts";
import { databases } from "../../../test/harness.ts";

const path = "/authenticator/page";

describe.each(databases)("the page that asks approver devices on %s", (database) => {
  let world: ElevationWorld;
  let agent: TestAgent;

  beforeAll(async () => {
    world = await ElevationWorld.start(database, { PUBLIC_URL });
    agent = await world.device();
  });
  afterAll(() => world?.stop());

  const facts = (given: string) => world.server.request("POST", `${path}/facts`, { body: { challenge: given } });
  const asked = async (given: string) => {
    const { body } = await facts(given);
    return Object.fromEntries(body.facts.map(({ name, value }: { name: string; value: string }) => [name, value]));
  };
  const isOver = async (given: string) => expect((await facts(given)).body.code).toBe("INVALID_TOKEN");

  it("shows what the server knows of the request that a challenge is for, with what nobody sees escaped", async () => {
    const { who } = await approverWith(world);
    const commandLine = "setup.exe \u202e /S <script>alert(1)</script>";
    const id = await world.pending(agent.deviceId, { riskTier: 3, commandLine, reason: "Printer" });
    const { body } = await challenge(world, id, who);
    const { challenge: given, ...assertion } = body.options;
    expect((await facts(given)).body).toMatchObject({ account: who.email, registration: null, assertion });
    expect(await asked(given)).toMatchObject({
      ...{ Organization: "acme", Request: id, Device: "reception-pc", Site: "HQ", User: "CONTOSO\\jana" },
      ...{ Risk: "3 (high)", Reason: "Printer", Program: "C:/Setup/printer.exe", Status: "pending" },
      "Command line": "setup.exe \\u202e /S <script>alert(1)</script>",
    });
  });

  it("reads without using the challenge up, and nothing once it is used, old, voided or about what is decided", async () => {
    const approver = await approverWith(world);
    const id = await world.pending(agent.deviceId, { riskTier: 3 });
    const first = (await challenge(world, id, approver.who)).body.options.challenge;
    const second = (await challenge(world, id, approver.who)).body.options.challenge;
    await isOver(first);
    for (let times = 0; times < 2; times += 1) expect((await facts(second)).status).toBe(200);
    world.server.clock.advance(120_001);
    await isOver(second);
    const proof = await proofFor(world, id, approver);
    const used = JSON.parse(Buffer.from(proof.clientDataJSON, "base64url").toString()).challenge;
    expect((await facts(used)).status).toBe(200);
    const other = (await challenge(world, await world.pending(agent.deviceId), approver.who)).body.options.challenge;
    await world.approve(id, { proof }, approver.who);
    await isOver(used);
    expect((await facts(other)).status).toBe(200);
    const third = await world.pending(agent.deviceId);
    const decided = (await challenge(world, third, approver.who)).body.options.challenge;
    await world.deny(third);
    await isOver(decided);
    await world.server.db
      .updateTable("sessions")
      .set({ revokedAt: world.server.clock.now() })
      .where("id", "=", approver.who.sessionId)
      .execute();
    await isOver(other);
    await isOver("c".repeat(43));
  });

  it("tells of a registration whose it is, and no request", async () => {
    const { who, device } = await approverWith(world);
    const { challenge: given, ...registration } = (await beginRegistering(world, who)).body.options;
    expect((await facts(given)).body).toEqual({ account: who.email, facts: [], registration, assertion: null });
    expect(registration.excludeCredentials).toMatchObject([{ id: device.id }]);
  });

  it("runs its own script alone, reads from this server alone, and sends only to the port that is named", async () => {
    for (const [port, formAction] of [
      ["49152", "'self' http://127.0.0.1:49152"],
      ["80", "'none'"],
      ["evil.example", "'none'"],
      ["49152;script-src *", "'none'"],
    ]) {
      const address = `${world.server.url}/api/v1${path}?${new URLSearchParams({ port: port as string, state: "s".repeat(43) })}`;
      const page = await fetch(address);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[\w+/=]+'; connect-src 'self'; /);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy.endsWith(`form-action ${formAction}`), policy).toBe(true);
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
      expect(await page.text()).not.toContain("s".repeat(43));
    }
  });
});
