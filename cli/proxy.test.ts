import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, expect, it } from "vitest";
import { certificateFor } from "#fixtures/certificate";
import { startHttpProxy } from "#fixtures/simulators/http-proxy";
import { testCommand } from "./test-shell.ts";

const command = testCommand();
afterAll(() => command.close());

it("the command goes through a proxy with a password to a server of a company's own authority (C66)", async () => {
  const certificate = await certificateFor("rmm.example");
  const server = createServer(certificate, (_, response) =>
    response
      .setHeader("content-type", "application/json")
      .end(JSON.stringify({ id: "me", email: "ana@contoso.example" })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const to = { port: (server.address() as AddressInfo).port };
  const proxy = await startHttpProxy({ to, login: "ana:hunter2" });
  const ca = join(command.dir, "company.pem");
  writeFileSync(ca, certificate.cert);
  const entry = fileURLToPath(new URL("./entry.ts", import.meta.url));
  const run = (env: Record<string, string>) =>
    execa(process.execPath, ["--conditions=source", "--import", "tsx", entry, "users", "me", "--json", "--debug"], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: {
        PATH: process.env["PATH"] ?? "",
        RMM_CONFIG_DIR: command.configDir,
        RMM_SERVER: "https://rmm.example",
        RMM_TOKEN: "user-token",
        HTTPS_PROXY: proxy.url.replace("//", "//ana:hunter2@"),
        ...env,
      },
      extendEnv: false,
      reject: false,
    });
  try {
    const trusting = await run({ NODE_EXTRA_CA_CERTS: ca });
    expect([trusting.exitCode, JSON.parse(trusting.stdout)]).toEqual([0, expect.objectContaining({ id: "me" })]);
    expect(proxy.asked).toEqual(["CONNECT rmm.example:443"]);
    const doubting = await run({});
    expect([doubting.exitCode, doubting.stderr]).toEqual([
      7,
      expect.stringContaining(`through the proxy ${proxy.url}`),
    ]);
    expect(trusting.stderr + doubting.stderr).not.toContain("hunter2");
  } finally {
    await proxy.stop();
    server.close();
  }
});
