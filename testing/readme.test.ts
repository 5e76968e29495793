import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
  for (const name of ["@types", "undici-types"])
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

test.each(examples)("$under: $file prints what it says", async ({ code, file }) => {
  const { stdout } = await execa(process.execPath, [join(folder, file.replace(/ts$/, "js"))], { env });
  const told = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
  expect(told.length).toBeGreaterThan(0);
  expect(stdout.split("\n")).toEqual(told);
});

test("each concern names a test that exists", () => {
  const rows = [...readme.matchAll(/^\| [^|]+ \| `([^`]+\.test\.ts)`: ([^|]+) \|$/gm)];
  expect(rows.length).toBe(18);
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
