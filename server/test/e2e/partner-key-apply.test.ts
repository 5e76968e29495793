import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { auditEntries } from "../audit-entries.ts";
import { RMM } from "../fault/processes.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

const bookOf = (count: number) => `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor Dental
    contacts: [{ name: Ana, email: ana@harbor.example }]
    sites: [{ name: HQ }]
    enrollmentKeys:
${Array.from({ length: count }, (_, at) => `      - { name: k${at}, site: HQ, expiresIn: 30d, sink: "file:secrets/k${at}.key" }`).join("\n")}
`;

describe.each(databases)("rmm apply with a partner key, on %s", (database) => {
  let server: TestServer;
  let rmm: Rmm;
  let env: Record<string, string>;
  let principalId: string;

  beforeEach(async () => {
    server = await startTestServer(database);
    const { partnerId } = await seedPartner(server, "acme");
    const seeded = await seedPartnerPrincipal(server.db, server.services, partnerId);
    principalId = seeded.partnerPrincipalId;
    env = { RMM_SERVER: server.url, RMM_API_KEY: seeded.partnerKey, CI: "true" };
    rmm = rmmHere(env);
    writeFileSync(join(rmm.dir, "book.yaml"), bookOf(12));
    writeFileSync(join(rmm.dir, "small.yaml"), bookOf(2));
  });
  afterEach(async () => {
    rmm?.close();
    await server?.stop();
  });

  const keys = () => server.db.selectFrom("enrollmentKeys").select("name").execute();

  it("works unattended: creates, prints the steps for a person, and does nothing the second time", async () => {
    const plan = await rmm.run(["plan", "small.yaml", "--detailed-exitcode"]);
    expect(plan.code, plan.stderr).toBe(10);
    expect(plan.stderr).toContain("2 mints, 10 an hour: 1 window");
    const ran = await rmm.run(["apply", "small.yaml", "--yes", "--json"]);
    expect(ran.code, `its contacts are certainly missing: ${ran.stderr}`).toBe(9);
    const { items, notes } = JSON.parse(ran.stdout);
    expect(items.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["done", "done", "done", "done"]);
    expect(JSON.stringify(notes)).toContain("contacts");
    expect(ran.stderr).toContain("left to a person");
    for (const name of ["k0", "k1"]) {
      const secret = readFileSync(join(rmm.dir, "secrets", `${name}.key`), "utf8").trim();
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(ran.stdout + ran.stderr).not.toContain(secret);
    }
    const again = await rmm.run(["apply", "small.yaml", "--yes", "--json"]);
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout).items).toEqual([]);
    const entries = await auditEntries(server, "enrollment_key.create");
    const done = entries.filter(({ result }) => result === "success");
    expect(done.map(({ details }) => details["partnerServicePrincipalId"])).toEqual([principalId, principalId]);
  });

  it("work beyond an hour's budget needs --pace, and is not started without it", async () => {
    const ran = await rmm.run(["apply", "book.yaml", "--yes"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("12 mints, 10 an hour: 2 windows; use --pace");
    expect(await server.db.selectFrom("organizations").select("id").execute()).toEqual([]);
  });

  it("--pace waits for the next window; Ctrl-C prints how to continue, and continuing mints nothing twice", async () => {
    const argv = [RMM, "apply", "book.yaml", "--yes", "--pace", "--json"];
    const child = spawn(process.execPath, argv, {
      cwd: rmm.dir,
      env: { PATH: process.env["PATH"] ?? "", HOME: rmm.dir, RMM_CONFIG_DIR: join(rmm.dir, "config"), ...env },
    });
    let stderr = "";
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    const waiting = new Promise<void>((resolve) => {
      child.stderr.on("data", (chunk: Buffer) => {
        stderr += chunk.toString();
        if (stderr.includes("Waiting")) resolve();
      });
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await Promise.race([waiting, ended]);
    child.kill("SIGINT");
    expect(await ended, stderr).toBe(130);
    expect(stderr).toMatch(/Waiting (59|60|61) min/);
    expect(stderr).toContain("rmm apply book.yaml --yes --pace");
    expect(JSON.parse(stdout).summary).toMatchObject({ done: 12, skipped: 2, failed: 0 });
    expect(await keys()).toHaveLength(10);

    const early = await rmm.run(["apply", "book.yaml", "--yes", "--json"]);
    expect(early.code, "nothing went through: the budget is used up").toBe(7);
    expect(JSON.parse(early.stdout).items[0].error).toMatchObject({ code: "RATE_LIMITED" });
    server.clock.advance(61 * 60_000);
    const rest = await rmm.run(["apply", "book.yaml", "--yes", "--pace", "--json"]);
    expect(rest.code, rest.stderr).toBe(0);
    expect((await keys()).length).toBe(12);
    expect(readdirSync(join(rmm.dir, "secrets"))).toHaveLength(12);
  });

  it("names the missing scope, and the restrictions that a principal needs for minting", async () => {
    const set = (values: object) =>
      server.db.updateTable("partnerServicePrincipals").set(values).where("id", "=", principalId).execute();
    await set({ expiresAt: null });
    const open = await rmm.run(["apply", "small.yaml", "--yes"]);
    expect(open).toMatchObject({ code: 5, stdout: "" });
    expect(open.stderr).toContain("source allowlist");
    await set({ scopes: '["organizations:read","sites:read"]' });
    const reader = await rmm.run(["apply", "small.yaml", "--yes"]);
    expect(reader).toMatchObject({ code: 5, stdout: "" });
    expect(reader.stderr).toContain("organizations:write and sites:write and enrollment-keys:write");
    expect((await rmm.run(["plan", "small.yaml"])).code).toBe(0);
    const organizationKey = { RMM_API_KEY: "svc_0123456789abcdefghijklmnopqrstuv" };
    expect((await rmm.run(["apply", "small.yaml", "--yes"], { env: organizationKey })).code).toBe(4);
  });
});
