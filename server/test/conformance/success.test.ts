import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mutates } from "#contract/core/endpoint";
import { databases } from "../harness.ts";
import { cases, credentialOf, type Swept, scopeOfExample, startSweep } from "./sweep.ts";

describe.each(databases)("success and its record on %s", (database) => {
  let swept: Swept;
  beforeAll(async () => {
    swept = await startSweep(database);
  });
  afterAll(() => swept?.server.stop());

  const direct = cases.filter((item) => item.example(new Proxy({}, { get: () => "x" }) as never).story === undefined);

  const entries = async (action: string) => {
    await swept.server.settled();
    return swept.server.db
      .selectFrom("auditLogs")
      .select(["id", "action", "result", "details"])
      .where("action", "=", action)
      .execute();
  };

  it.each(direct)("$name answers what the contract says and nothing else", async (item) => {
    const tenant = await swept.freshTenant();
    const answer = await swept.call(item, { tenant, ...(await credentialOf(swept, item, tenant)) });
    expect(answer.status, JSON.stringify(answer.body)).toBe(item.endpoint.status);
  });

  const audited = direct.filter((item) => mutates(item.endpoint));
  it.each(audited)("$name leaves exactly one entry of its action, with the change", async (item) => {
    const tenant = await swept.freshTenant();
    const credential = await credentialOf(swept, item, tenant);
    const action = item.endpoint.audit as string;
    const before = await entries(action);
    const answer = await swept.call(item, { tenant, ...credential });
    expect(answer.status).toBeLessThan(300);
    const after = await entries(action);
    expect(after.length - before.length).toBe(1);
    expect(after.filter((entry) => entry.result === "success").length).toBe(
      before.filter((entry) => entry.result === "success").length + 1,
    );
  });

  /** Prefixes of actions on what belongs to a site, or hangs on something that does (docs/audit.md, "Who reads which entries"). */
  const ofSites =
    /^(site|contact|enrollment_key|device|device_group|agent|alert|remote_session|tunnel|patch|vulnerability|ticket|pam)\./;
  it.each(audited.filter(({ endpoint }) => ofSites.test(endpoint.audit as string)))(
    "$name records the sites of its subject",
    async (item) => {
      const tenant = await swept.freshTenant();
      const action = item.endpoint.audit as string;
      const idsBefore = new Set((await entries(action)).map(({ id }) => id));
      await swept.call(item, { tenant, ...(await credentialOf(swept, item, tenant)) });
      const [entry] = (await entries(action)).filter(({ id }) => !idsBefore.has(id));
      const details = JSON.parse(entry?.details ?? "{}") as Record<string, unknown>;
      expect(details["siteIds"], entry?.details).toEqual(expect.any(Array));
    },
  );

  const deniable = audited.filter((item) => item.endpoint.access.permissions.length > 0);
  it.each(deniable)("$name leaves one entry when it is denied, and changes nothing", async (item) => {
    const tenant = await swept.freshTenant();
    const { token } = await swept.caller(scopeOfExample(item, tenant), tenant, { permissions: [] });
    const action = item.endpoint.audit as string;
    const before = (await entries(action)).length;
    expect((await swept.call(item, { tenant, token })).status).toBe(403);
    // The entry of a refusal is written after the answer.
    await expect.poll(async () => (await entries(action)).length - before, { timeout: 5_000 }).toBe(1);
    expect((await entries(action)).some((entry) => entry.result === "denied")).toBe(true);
  });
});
