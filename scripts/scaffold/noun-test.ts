import type { NewNoun, NounNames } from "./names.ts";

/** Tests of every noun; the first fails until a developer has written what this noun is for. */
export const testFile = ({ noun, one, key, many }: NounNames, { area }: NewNoun): string => `\
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("${noun} on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId }));
  });
  afterAll(() => server?.stop());

  it("does what the product has ${many} for", () => {
    expect.fail("Describe ${many} in server/docs/${area}.md, test that rule here, and see that the permission fits");
  });

  it("creates, changes and deletes one, and another tenant's stays untouched", async () => {
    const created = await server.request("POST", "/${noun}", { token, body: { orgId: acme.orgId, name: "New" } });
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const path = \`/${noun}/\${created.body.id}\`;
    expect((await server.request("PATCH", path, { token, body: { name: "Newer" } })).body.name).toBe("Newer");
    expect((await server.request("DELETE", path, { token })).body).toEqual({ success: true });
    expect((await server.request("GET", path, { token })).status).toBe(404);
    expect((await server.request("DELETE", \`/${noun}/\${other.${one}Id}\`, { token })).status).toBe(404);
    const rows = await server.db.selectFrom("${key}").select("id").where("id", "=", other.${one}Id).execute();
    expect(rows).toHaveLength(1);
  });
});
`;
