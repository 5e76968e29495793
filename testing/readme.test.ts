import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "#sdk/client";
import { memoryStore } from "#sdk/session";
import { startTestServer, type TestServer } from "./index.ts";

const readme = readFileSync("sdk/README.md", "utf8");
let under = "The SDK";
const examples: { under: string; code: string; file: string }[] = [];
for (const [, heading, code] of readme.matchAll(/^## (.*)$|```ts\n([\s\S]*?)```/gm)) {
  if (heading !== undefined) under = heading;
  if (code !== undefined) examples.push({ under, code, file: `example-${examples.length}.ts` });
}

let folder: string;
let server: TestServer;
let env: Record<string, string>;
let compiled: { exitCode?: number | undefined; all?: string | undefined };

/** A person's tokens, made as the README says. */
async function accessToken({ baseUrl, admin }: TestServer): Promise<string> {
  const store = memoryStore();
  const client = createClient({ baseUrl, credentials: { store } });
  let answer = await client.sessions.login({ body: { email: admin.email, password: admin.password } });
  if (answer.mfaRequired) {
    answer = await client.mfa.verify({ body: { tempToken: answer.tempToken, code: admin.recoveryCodes[0] as string } });
  }
  await client.auth.adopt(answer);
  return (await store.read())?.accessToken as string;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rmm-readme-"));
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@types", "undici-types", "express"])
    symlinkSync(resolve("node_modules", name), join(folder, "node_modules", name));
  symlinkSync(resolve("."), join(folder, "node_modules/rmm"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const { file, code } of examples) writeFileSync(join(folder, file), code);
  const options = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"];
  const tsc = [resolve("node_modules/typescript/bin/tsc"), ...options, ...examples.map(({ file }) => file)];
  compiled = await execa(process.execPath, tsc, { cwd: folder, all: true, reject: false });
  server = await startTestServer();
  const { client, admin, baseUrl } = server;
  const partner = await client.partners.create({ body: { name: "Summit", slug: "summit" } });
  for (const name of ["Contoso", "Fabrikam"])
    await client.organizations.create({ body: { name, slug: name.toLowerCase(), partnerId: partner.id } });
  env = {
    RMM_SERVER: baseUrl,
    RMM_TOKEN: await accessToken(server),
    RMM_EMAIL: admin.email,
    RMM_PASSWORD: admin.password,
    RMM_CODE: admin.recoveryCodes[1] as string,
    RMM_PARTNER: partner.id,
    RMM_SESSION: join(folder, "session.json"),
  };
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("every example passes the strictest type check", () => {
  expect([compiled.exitCode, compiled.all]).toEqual([0, ""]);
});

const receives = ({ code }: { code: string }) => code.includes(".listen(");

test.each(examples.filter((one) => !receives(one)))("$under: $file prints what it says", async ({ code, file }) => {
  const { stdout } = await execa(process.execPath, [join(folder, file.replace(/ts$/, "js"))], { env });
  const told = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
  expect(told.length).toBeGreaterThan(0);
  expect(stdout.split("\n")).toEqual(told);
});

test.each(examples.filter(receives))("$under: $file takes a signed delivery, and no other", async ({ code, file }) => {
  const port = await freePort();
  const secret = "whsec_of-the-example";
  const receiver = execa(process.execPath, [join(folder, file.replace(/ts$/, "js"))], {
    env: { PORT: String(port), WEBHOOK_SECRET: secret },
    reject: false,
  });
  try {
    const body = JSON.stringify({ id: "e1", type: "device.offline", data: { deviceName: "reception" } });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const send = async (key: string) => {
      const signature = createHmac("sha256", key).update(`${timestamp}.${body}`).digest("hex");
      const headers = {
        "content-type": "application/json",
        "x-webhook-timestamp": timestamp,
        "x-webhook-signature": `sha256=${signature}`,
      };
      return (await fetch(`http://127.0.0.1:${port}/rmm`, { method: "POST", body, headers })).status;
    };
    await expect.poll(() => send("another secret").catch(() => 0), { timeout: 10_000 }).toBe(400);
    expect(await send(secret)).toBe(204);
  } finally {
    receiver.kill();
  }
  const [, told] = /\/\/ → (.*)$/m.exec(code) ?? [];
  expect((await receiver).stdout).toBe(told);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("each concern names a test that exists", () => {
  const rows = [...readme.matchAll(/^\| [^|]+ \| `([^`]+\.test\.ts)`: ([^|]+) \|$/gm)];
  expect(rows.length).toBe(19);
  for (const [, file, name] of rows) {
    const source = readFileSync(join("sdk", file as string), "utf8");
    const names = [...source.matchAll(/(?:test|it|describe)(?:\.each[\s\S]*?\]\))?\(\s*["'`](.*?)["'`],/g)].map(
      (one) => one[1],
    );
    expect(
      names.some((one) => one?.includes(name as string)),
      `${file}: ${name}`,
    ).toBe(true);
  }
});
