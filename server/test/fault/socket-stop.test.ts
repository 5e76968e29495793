import { afterAll, expect, it } from "vitest";
import { connected } from "../agent-socket.ts";
import { seedPartner, signIn } from "../harness.ts";
import { type Installation, install } from "./processes.ts";

let installation: Installation;
afterAll(() => installation?.remove());

it("a server that is told to stop closes its agents' connections, and waits for none that does not answer", async () => {
  installation = await install("sqlite", { migrated: true });
  const server = await installation.start();
  const { partnerId, orgIds } = await seedPartner(installation, "acme", ["acme"]);
  const { token } = await signIn(installation, { role: "Partner Admin", partnerId });
  const key = await server.request("POST", "/enrollment-keys", {
    token,
    body: { orgId: orgIds[0], name: "all", maxUsage: 2 },
  });
  const machine = async (hostname: string) => {
    const sent = { enrollmentKey: key.body.key, hostname, osType: "linux" };
    const { body } = await server.request("POST", "/agents/enroll", { body: sent });
    return connected(server.url, body.agentId, body.agentToken);
  };
  const [one, silent] = [await machine("one"), await machine("silent")];
  silent.raw.pause();
  const stopped = server.stop();
  expect(await one.closed).toBe(1001);
  expect(await stopped, server.log()).toBe(0);
  silent.raw.terminate();
});
