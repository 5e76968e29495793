import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createContext, runInContext } from "node:vm";
import { execa } from "execa";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NotFoundError, RmmError } from "#sdk/errors";
import { refusal, type Stub, stubServer } from "#sdk/stub-server";
import { packSdk } from "./pack-sdk.ts";
import { packedManifest } from "./packed-manifest.ts";

const id = "018f0000-0000-7000-8000-000000000001";
let scratch: string;
let stub: Stub;

/** Unpacks a tarball as npm would put it; its dependencies are those of this checkout. */
function install(tarball: string, name: string): void {
  const place = join(scratch, "node_modules", name);
  mkdirSync(place, { recursive: true });
  execFileSync("tar", ["-xzf", join(scratch, tarball), "-C", place, "--strip-components=1"]);
  const { dependencies } = manifestOf(name);
  for (const dependency of Object.keys(dependencies)) bring(dependency);
}

function bring(dependency: string): void {
  const place = join(scratch, "node_modules", dependency);
  mkdirSync(join(place, ".."), { recursive: true });
  try {
    symlinkSync(resolve("node_modules", dependency), place);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(scratch, "node_modules", name, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };

const filesOf = (tarball: string): string[] =>
  execFileSync("tar", ["-tzf", join(scratch, tarball)], { encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "")
    .map((path) => path.replace("package/", ""));

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "rmm-pack-"));
  writeFileSync(join(scratch, "package.json"), '{ "type": "module" }');
  install(packSdk(".", scratch), "rmm-sdk");
  stub = await stubServer(({ path }) =>
    path.endsWith("/users/me") ? { body: { id, email: "ann@contoso.example" } } : refusal(404, "NOT_FOUND"),
  );
});
afterAll(async () => {
  await stub.close();
  rmSync(scratch, { recursive: true, force: true });
});

const core = `
import { createClient, isErrorOf, NotFoundError, type Organization, type OrganizationsCreateBody } from "rmm-sdk";

export const rmm = createClient({ baseUrl: "https://rmm.example", credentials: { token: "t" } });
export const names = async (): Promise<string[]> => {
  const all: Organization[] = await rmm.organizations.list({ query: { status: "active", limit: 10 } }).toArray();
  return all.map(({ name }) => name);
};
export const create = async (body: OrganizationsCreateBody): Promise<"made" | "taken" | "gone"> => {
  try {
    await rmm.organizations.create({ body }, { idempotencyKey: "12345678" });
    return "made";
  } catch (error) {
    if (isErrorOf("organizations.create", error) && error.code === "SLUG_TAKEN") return "taken";
    if (error instanceof NotFoundError) return "gone";
    throw error;
  }
};
// @ts-expect-error a status that there is not
rmm.organizations.list({ query: { status: "asleep" } });
// @ts-expect-error an id is missing
rmm.organizations.get({ params: {} });
`;
const onNode = `${core}
import { fileStore, nodeTransport } from "rmm-sdk/node";
export const other = createClient({ baseUrl: "x", transport: nodeTransport(), credentials: { store: fileStore("y") } });
`;

describe.each([
  ["5.4", "typescript-5.4"],
  ["the newest", "typescript"],
])("types under TypeScript %s, libraries checked", (_, compiler) => {
  /** Seconds of processor that the check took: the clock would measure the neighbours too. */
  const check = async (source: string, options: object): Promise<number> => {
    writeFileSync(join(scratch, "program.ts"), source);
    const compilerOptions = { noEmit: true, strict: true, skipLibCheck: false, target: "es2022", ...options };
    writeFileSync(join(scratch, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    const tsc = resolve("node_modules", compiler, "bin/tsc");
    const timed = ["-c", '"$@" || exit 1; times >&2', "bash", process.execPath, tsc, "-p", "tsconfig.json"];
    const { exitCode, stdout, stderr } = await execa("bash", timed, { cwd: scratch, reject: false });
    expect([exitCode, stdout]).toEqual([0, ""]);
    const [user = 0, system = 0] = [...(stderr.split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(
      ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
    );
    return user + system;
  };
  const lib = ["es2022", "dom", "dom.iterable"];
  const browser = { module: "esnext", moduleResolution: "bundler", lib, types: [] };

  test("in a browser, in two seconds, of which the SDK itself takes one at most", async () => {
    const without = await check("export const one = fetch;", browser);
    const all = await check(core, browser);
    expect(all).toBeGreaterThan(0);
    expect(all - without).toBeLessThan(1);
    // TypeScript 5.4 takes longer than that for the library of a browser alone.
    if (compiler === "typescript") expect(all).toBeLessThan(2);
  });

  test("on Node, without the types of a browser", async () => {
    bring("@types/node");
    bring("undici-types");
    await check(onNode, { module: "nodenext", lib: ["es2022"], types: ["node"] });
  });
});

test("the package of the SDK is the client alone, with three dependencies", () => {
  const [tarball] = readdirSync(scratch).filter((name) => name.startsWith("rmm-sdk-"));
  const files = filesOf(tarball as string);
  expect(files).toContain("dist/index.d.ts");
  expect(files.filter((path) => !/^(dist\/.*\.(js|d\.ts)|package\.json|README\.md)$/.test(path))).toEqual([]);
  expect(files.filter((path) => /server|cli\/|\.test\./.test(path))).toEqual([]);
  expect(Object.keys(manifestOf("rmm-sdk").dependencies)).toEqual(["ky", "undici", "zod"]);
});

test("it runs on Node with nothing else installed, and validates answers", async () => {
  const program = `
    import { createClient } from "rmm-sdk";
    import { nodeTransport } from "rmm-sdk/node";
    const baseUrl = process.argv[2];
    for (const transport of [undefined, nodeTransport()]) {
      const rmm = createClient({ baseUrl, transport, credentials: { token: "t" } });
      console.log((await rmm.users.me()).email);
    }
    const rmm = createClient({ baseUrl, validate: "strict", credentials: { token: "t" } });
    console.log((await rmm.users.me().catch((error) => error)).name);
  `;
  writeFileSync(join(scratch, "run.js"), program);
  const { stdout } = await execa(process.execPath, ["run.js", stub.url], { cwd: scratch });
  expect(stdout.split("\n")).toEqual(["ann@contoso.example", "ann@contoso.example", "ResponseInvalidError"]);
});

test("its errors are instances of the classes of another copy, and the other way round", async () => {
  const other = (await import(join(scratch, "node_modules/rmm-sdk/dist/index.js"))) as typeof import("#sdk/index");
  const rmm = other.createClient({ baseUrl: stub.url, credentials: { token: "t" } });
  const error = await rmm.sites.get({ params: { id } }).catch((thrown: unknown) => thrown);
  expect(other.NotFoundError).not.toBe(NotFoundError);
  expect([error instanceof NotFoundError, error instanceof RmmError]).toEqual([true, true]);
  expect(new NotFoundError("x", { outcome: "rejected" }) instanceof other.NotFoundError).toBe(true);
  expect(error instanceof other.ConflictError).toBe(false);
});

test("bundled for a browser it needs nothing but what a browser has", async () => {
  const input = join(scratch, "page.js");
  writeFileSync(
    input,
    'import { createClient } from "rmm-sdk";\nglobalThis.ask = (baseUrl) => createClient({ baseUrl, credentials: { token: "t" } }).users.me().then(({ email }) => email);\n',
  );
  const warnings: string[] = [];
  const bundle = await rolldown({
    input,
    cwd: scratch,
    platform: "browser",
    onLog: (level, { message }) => void (level === "warn" && warnings.push(message)),
  });
  const { output } = await bundle.generate({ format: "iife", codeSplitting: false, minify: true });
  expect(warnings).toEqual([]);
  expect(output).toHaveLength(1);
  const { code } = output[0];
  expect(code).not.toMatch(/["']node:|\brequire\(/);
  const { fetch, Request, Response, Headers, FormData, URL, URLSearchParams, AbortController, AbortSignal } =
    globalThis;
  const web = { fetch, Request, Response, Headers, FormData, URL, URLSearchParams, AbortController, AbortSignal };
  const { crypto, performance, setTimeout, clearTimeout, ReadableStream, TransformStream, DOMException } = globalThis;
  const { TextEncoder, TextDecoder, Blob, atob, btoa } = globalThis;
  const more = { crypto, performance, setTimeout, clearTimeout, ReadableStream, TransformStream, DOMException };
  const page = createContext({ ...web, ...more, TextEncoder, TextDecoder, Blob, atob, btoa });
  runInContext(code, page);
  expect(await (page["ask"] as (url: string) => Promise<string>)(stub.url)).toBe("ann@contoso.example");
});

describe("the whole package", () => {
  let tarball: string;
  beforeAll(() => {
    const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", scratch];
    tarball = execFileSync("npm", args, { encoding: "utf8" }).trim();
    install(tarball, "rmm");
  }, 120_000);

  test("holds what is built, and no source, test or tool", () => {
    const files = filesOf(tarball);
    for (const one of [
      "bin/rmm.js",
      "dist/rmm/entry.cjs",
      "dist/sdk/index.d.ts",
      "dist/testing/index.js",
      "dist/docs-ui/NOTICE",
    ])
      expect(files).toContain(one);
    expect(files.filter((path) => /\.test\.|tsbuildinfo|^dist\/(tests|scripts)\/|(?<!\.d)\.ts$/.test(path))).toEqual(
      [],
    );
  });

  test("has SQLite on an older Node after the command that the server names", async () => {
    expect(packedManifest(readFileSync("package.json", "utf8"))).not.toContain("file:");
    writeFileSync(join(scratch, "package.json"), '{ "type": "module" }');
    for (const one of readdirSync("node_modules")) if (!/^\.|^rmm-sqlite/.test(one)) bring(one);
    const bin = join(scratch, "node_modules/rmm/bin/rmm.js");
    const rmm = (...argv: string[]) =>
      execa(process.execPath, [bin, "server", ...argv], { cwd: scratch, reject: false });
    const needed = Number(process.versions.napi) < 10;
    if (needed) {
      const { stdout } = await rmm("doctor", "--json");
      const [, archive = ""] = /`npm install (\S+\.tgz)`/.exec(stdout) ?? [];
      expect(stdout).toContain("better-sqlite3 does not load");
      expect((await rmm("migrate")).stderr).toContain(`npm install ${archive}`);
      install(archive, "rmm-sqlite-for-older-node");
    }
    expect(await rmm("migrate")).toMatchObject({ exitCode: 0 });
    expect((await rmm("doctor", "--json")).stdout).toContain(needed ? "better-sqlite3 12" : "better-sqlite3 13");
  });

  test("brings the command, and the server for tests", async () => {
    const bin = join(scratch, "node_modules/rmm/bin/rmm.js");
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect((await execa(process.execPath, [bin, "--version"])).stdout).toContain(version);
    const program = `
      import { startTestServer } from "rmm/testing";
      const { client, stop } = await startTestServer();
      console.log((await client.partners.create({ body: { name: "Acme", slug: "acme" } })).slug);
      await stop();
    `;
    writeFileSync(join(scratch, "whole.js"), program);
    for (const one of readdirSync("node_modules")) if (!one.startsWith(".")) bring(one);
    const { stdout } = await execa(process.execPath, ["whole.js"], { cwd: scratch });
    expect(stdout).toBe("acme");
  });
});

test("npm pack makes both", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(scripts.prepack).toMatch(/^npm run build && .*packed-manifest\.ts put$/);
  expect(scripts.postpack).toMatch(/packed-manifest\.ts restore && .*scripts\/pack-sdk\.ts$/);
});
