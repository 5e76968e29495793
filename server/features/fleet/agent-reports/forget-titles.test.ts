import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { forgetTitles } from "./forget-titles.ts";

describe.each(databases)("titles of software on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
  });
  afterAll(() => server?.stop());

  const report = async (...names: string[]) => {
    const software = names.map((name) => ({ name }));
    const answer = await server.request("PUT", `/agents/${acme.deviceId}/software`, {
      token: acme.agentToken,
      body: { software },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  };
  const titles = async () => {
    if (database === "sqlite") {
      const { rows } = await sql<{ title: string }>`select title from software_titles order by title`.execute(
        server.db,
      );
      return rows.map(({ title }) => title);
    }
    const owner = new pg.Client({ connectionString: server.services.store.url });
    await owner.connect();
    const { rows } = await owner.query<{ title: string }>(
      `select title from rmm_private.software_titles order by title collate "C"`,
    );
    const { rows: own } = await owner.query('select title from rmm_private.partner_titles order by title collate "C"');
    expect(own).toEqual(rows);
    await owner.end();
    return rows.map(({ title }) => title);
  };

  it("are forgotten once no device has them, however many there are", async () => {
    const many = Array.from({ length: 25 }, (_, at) => `Old program ${at}`);
    await report("Kept", ...many);
    await forgetTitles(server.services);
    expect(await titles()).toHaveLength(26);
    await report("Kept");
    expect(await forgetTitles(server.services, 10)).toBe(4);
    expect(await titles()).toEqual(["Kept"]);
    await report("Kept", "Old program 3");
    expect(await titles()).toEqual(["Kept", "Old program 3"]);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    const conditions = {
      operator: "AND",
      conditions: [{ field: "software.installed", operator: "contains", value: "PROGRAM 3" }],
    };
    const found = await server.request("POST", "/filters/preview", { token, body: { conditions } });
    expect(found.body.data.totalCount).toBe(1);
  });

  it.runIf(database === "postgres")("stay where a report that is not committed yet has found them", async () => {
    await report("Comes again");
    await report();
    const owner = new pg.Client({ connectionString: server.services.store.url });
    await owner.connect();
    await owner.query("begin");
    await owner.query(
      `insert into device_software (id, org_id, device_id, name) values (gen_random_uuid(), $1, $2, 'Comes again')`,
      [acme.orgId, acme.deviceId],
    );
    // It does not wait for ever, and nothing has happened then.
    await expect(forgetTitles(server.services)).rejects.toThrow(/lock timeout/);
    const forgetting = forgetTitles(server.services);
    await owner.query("commit");
    await forgetting;
    await owner.end();
    expect(await titles()).toContain("Comes again");
  });
});
