import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#server/platform/log";
import { sha256 } from "#server/platform/vault";
import { seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { KeyUsage } from "./key-usage.ts";

describe("uses of keys", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer("sqlite");
  });
  afterAll(() => server?.stop());

  it.each(["usage_count", "last_used_at"])(
    "a flush that fails at %s counts nothing twice and loses nothing",
    async (column) => {
      const slug = column.replaceAll("_", "-");
      const { partnerId, orgIds } = await seedPartner(server, slug, [`${slug}-org`]);
      const { token } = await server.signIn({ role: "Partner Admin", partnerId });
      const body = { orgId: orgIds[0], name: "ci", scopes: [] };
      const made = (await server.request("POST", "/api-keys", { token, body })).body;
      const usage = new KeyUsage({ store: server.services.store, log: silentLog }, server.services.hooks);
      const at = "2026-03-02T09:00:00.000Z";
      const use = () => usage.count({ kind: "apiKey", keyId: made.id, keyHash: sha256(made.key) }, at);
      await sql
        .raw(`create trigger failing before update of ${column} on api_keys begin select raise(abort, 'not now'); end`)
        .execute(server.db);
      use();
      use();
      await usage.flush();
      await sql.raw("drop trigger failing").execute(server.db);
      use();
      await usage.flush();
      const row = await server.db
        .selectFrom("apiKeys")
        .select(["usageCount", "lastUsedAt"])
        .where("id", "=", made.id)
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ usageCount: 3, lastUsedAt: at });
    },
  );
});
