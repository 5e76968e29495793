import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { ciRunner, type Runner } from "./ci-runner.ts";

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
let server: TestServer;
let runner: Runner;
beforeAll(async () => {
  server = await startTestServer("sqlite");
  runner = ciRunner();
});
afterAll(async () => {
  runner?.remove();
  await server?.stop();
});

it("the pipeline of the README works when pasted, from the first line to the last", async () => {
  const [, block = ""] = /\nFor a pipeline[^`]*```sh\n([^`]+)```/.exec(read("README.md")) ?? [];
  expect(block.trim().split("\n").length).toBeGreaterThan(3);
  // The README makes `rmm` an alias, which the shell finds only where a command begins.
  for (const line of block.split("\n").filter((line) => /\brmm /.test(line))) expect(line).toMatch(/^rmm /);
  const { partnerId } = await seedPartner(server, "acme");
  const { partnerKey } = await seedPartnerPrincipal(server.db, server.services, partnerId);
  const { token } = await server.signIn({ role: "Partner Admin", partnerId });
  runner.write(
    "customers.yaml",
    read("fixtures/files/ci/github-customers.yaml").replace(/sink: .*/, `sink: "file:harbor.key" }`),
  );
  runner.write("partner.key", partnerKey, 0o600);
  const here = block
    .replace("https://rmm.msp.example", server.url)
    .replace("/run/secrets/rmm-partner-key", `${runner.dir}/partner.key`);
  const ran = await runner.script("README", `set -e\n${here}`, { RMM_TOKEN: token });
  expect(ran.code, ran.log).toBe(0);
  expect(await server.db.selectFrom("organizations").select("slug").execute()).toContainEqual({
    slug: "harbor-dental",
  });
  // The server's clock is set to a time at which that key is old.
  expect(ran.log).toContain("1 of 1 key rotated");
  expect(ran.log).not.toContain(partnerKey);
});
