import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { createClient } from "#sdk/client";
import { isErrorOf } from "#sdk/operation-error";
import { startTestServer } from "./index.ts";

test("the real server answers a signed-in client, and two of them share nothing", async () => {
  const [one, two] = await Promise.all([startTestServer(), startTestServer()]);
  try {
    const partner = await one.client.partners.create({ body: { name: "Summit", slug: "summit" } });
    const body = { name: "Contoso", slug: "contoso", partnerId: partner.id };
    const organization = await one.client.organizations.create({ body });
    expect(await one.client.organizations.get({ params: { id: organization.id } })).toMatchObject({ slug: "contoso" });
    const again = await one.client.organizations.create({ body }).catch((thrown: unknown) => thrown);
    expect(isErrorOf("organizations.create", again) && again.code).toBe("SLUG_TAKEN");
    expect(await two.client.partners.list().toArray()).toEqual([]);
    const stranger = createClient({ baseUrl: one.baseUrl });
    await expect(stranger.partners.list()).rejects.toMatchObject({ code: "NOT_SIGNED_IN" });
    expect((await one.client.users.me()).email).toBe(one.admin.email);
  } finally {
    await Promise.all([one.stop(), two.stop()]);
  }
  expect(existsSync(one.dataDir)).toBe(false);
  await expect(one.client.users.me({}, { retries: 0 })).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
});

test("settings of the server and of the client are the caller's, and a wrong one leaves nothing behind", async () => {
  const seen: string[] = [];
  const server = await startTestServer({
    env: { ENABLE_API_DOCS_UI: "false" },
    client: { hooks: { onRequest: ({ operation }) => void seen.push(operation) } },
  });
  try {
    expect((await fetch(`${server.baseUrl}/docs`)).status).toBe(404);
    expect(seen).toEqual(["sessions.login", "mfa.setup", "mfa.enable"]);
  } finally {
    await server.stop();
  }
  await expect(startTestServer({ env: { AGENT_ENROLL_RATE_LIMIT: "many" } })).rejects.toThrow(
    "AGENT_ENROLL_RATE_LIMIT",
  );
});
