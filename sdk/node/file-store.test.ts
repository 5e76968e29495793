import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createClient } from "../client.ts";
import { fileStore, nodeTransport, PrivateFileError } from "../node.ts";
import { refusal, type Stub, stubServer } from "../stub-server.ts";

const id = "018f0000-0000-7000-8000-000000000001";
let folder: string;
let stub: Stub | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rmm-store-"));
});
afterEach(async () => {
  await stub?.close();
  rmSync(folder, { recursive: true, force: true });
});

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("a session is kept in a file that nobody else may read, and an existing folder stays as it is", async () => {
  const before = process.umask(0);
  try {
    const path = join(folder, "new", "session.json");
    const store = fileStore(path);
    expect(await store.read()).toBeUndefined();
    await store.write({ accessToken: "a", refreshToken: "r" });
    expect(await store.read()).toEqual({ accessToken: "a", refreshToken: "r" });
    expect([modeOf(path), modeOf(join(folder, "new"))]).toEqual(["600", "700"]);
    writeFileSync(join(folder, "open.json"), "{}", { mode: 0o644 });
    const opened = modeOf(folder);
    await fileStore(join(folder, "open.json")).write({ accessToken: "b" });
    expect([modeOf(join(folder, "open.json")), modeOf(folder)]).toEqual(["600", opened]);
    await store.clear();
    expect(await store.read()).toBeUndefined();
  } finally {
    process.umask(before);
  }
});

test("a reader never sees half a file, and nothing is left beside it", async () => {
  const store = fileStore(join(folder, "session.json"));
  const long = (n: number) => ({ accessToken: `${n}`.repeat(50_000) });
  await store.write(long(0));
  const writing = (async () => {
    for (let n = 1; n < 10; n++) await store.write(long(n));
  })();
  for (let look = 0; look < 50; look++) expect((await store.read())?.accessToken).toHaveLength(50_000);
  await writing;
  expect(readdirSync(folder)).toEqual(["session.json"]);
});

test("a file that cannot be used is named, without what is in it", async () => {
  const path = join(folder, "session.json");
  writeFileSync(path, "token-in-the-wrong-form");
  const error = await fileStore(path)
    .read()
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PrivateFileError);
  expect(error).toMatchObject({ code: "NOT_JSON", path });
  expect(String(error)).not.toContain("token-in");
});

const program = `
  import { createClient } from "#sdk/client";
  import { fileStore, nodeTransport } from "#sdk/node";
  const [, baseUrl, path] = process.argv;
  const rmm = createClient({ baseUrl, transport: nodeTransport(), credentials: { store: fileStore(path) } });
  console.log((await rmm.sites.get({ params: { id: "${id}" } })).id);
`;

test("processes that share a file burn one refresh token between them (C24)", async () => {
  let current = 1;
  stub = await stubServer(async ({ path, headers, body }) => {
    if (path.endsWith("/auth/refresh")) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if ((body as { refreshToken: string }).refreshToken !== `refresh-${current}`) {
        return refusal(401, "INVALID_REFRESH_TOKEN");
      }
      current += 1;
      return { body: { accessToken: `access-${current}`, refreshToken: `refresh-${current}`, expiresIn: 900 } };
    }
    return headers["authorization"] === `Bearer access-${current}` ? { body: { id } } : refusal(401, "UNAUTHENTICATED");
  });
  const path = join(folder, "session.json");
  await fileStore(path).write({ accessToken: "access-1", refreshToken: "refresh-1", expiresAtMs: Date.now() + 1000 });
  const args = ["--import", "tsx", "--conditions=source", "--input-type=module", "-e", program, stub.url, path];
  const run = () =>
    promisify(execFile)(
      process.execPath,
      args.filter((one) => one !== "--"),
    );
  const mine = createClient({ baseUrl: stub.url, transport: nodeTransport(), credentials: { store: fileStore(path) } });
  const [one, two] = await Promise.all([run(), run(), mine.sites.get({ params: { id } })]);
  expect([one.stdout, two.stdout]).toEqual([`${id}\n`, `${id}\n`]);
  expect(current).toBe(2);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ refreshToken: "refresh-2" });
});
