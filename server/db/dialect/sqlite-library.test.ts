import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadSqlite, openSqliteFile, SqliteUnavailable, sqliteLibrary, sqlitePackage } from "./sqlite-library.ts";
import { OLDER_NODE, sqliteRemedy } from "./sqlite-remedy.ts";

const folder = mkdtempSync(join(tmpdir(), "rmm-sqlite-library-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const here = createRequire(import.meta.url);
const elsewhere = createRequire(join(folder, "x.js"));
const failure = (run: () => unknown): SqliteUnavailable => {
  try {
    run();
  } catch (error) {
    if (error instanceof SqliteUnavailable) return error;
    throw error;
  }
  throw new Error("it loaded");
};

describe("the SQLite library", () => {
  it("is better-sqlite3 13 from Node-API 10 on, and 12 before", () => {
    // Node 20.20, 22.13; 22.14, 24.21, 26.
    expect(["9", "9", "10", "10", "11"].map(sqlitePackage)).toEqual([
      "better-sqlite3-12",
      "better-sqlite3-12",
      "better-sqlite3",
      "better-sqlite3",
      "better-sqlite3",
    ]);
    expect(sqlitePackage(undefined)).toBe("better-sqlite3-12");
  });

  it("opens files on this Node, and says what it is", () => {
    const file = join(folder, "some.db");
    openSqliteFile(file).exec("create table a (b); insert into a values (7)").close();
    const again = openSqliteFile(file, { readonly: true, fileMustExist: true });
    expect(again.prepare("select b, sqlite_version() as v from a").get()).toEqual({ b: 7, v: sqliteLibrary().sqlite });
    again.close();
    expect(sqliteLibrary().version.split(".")[0]).toBe(Number(process.versions.napi) >= 10 ? "13" : "12");
  });

  it("says what to install where npm could not compile 12", () => {
    const error = failure(() => loadSqlite("better-sqlite3-12", elsewhere));
    expect(error.message).toContain("Cannot find module 'rmm-sqlite-for-older-node/package.json'");
    expect(error.message).toMatch(/Run `npm ci`.*C\+\+ compiler, make and Python 3.*use Node 22\.14 or newer/);
    expect(error.message).not.toContain("\n");
  });

  it("says how to compile it where its compiled half is missing", () => {
    const name = sqlitePackage(process.versions.napi);
    const installed = dirname(dirname(here.resolve("better-sqlite3/package.json")));
    const helpers = name === "better-sqlite3" ? [] : [OLDER_NODE, "bindings", "file-uri-to-path"];
    for (const part of [`${name}/lib`, `${name}/package.json`, ...helpers])
      cpSync(join(installed, part), join(folder, "node_modules", part), { recursive: true });
    const error = failure(() => loadSqlite(name, elsewhere));
    expect(error.message).toContain(`better-sqlite3 does not load on Node ${process.versions.node}`);
    expect(error.message).toContain(name === "better-sqlite3" ? "npm run build-release" : "npm ci");
  });

  it("names the command for where the product is installed", () => {
    const at = (project: string, cwd: string, manifest: boolean) => {
      const root = join(folder, project, "node_modules/rmm");
      const older = "server/db/dialect/older-node";
      mkdirSync(join(root, older), { recursive: true });
      writeFileSync(join(root, older, "x-1.tgz"), "");
      if (manifest) writeFileSync(join(folder, project, "package.json"), "{}");
      return /^Run `(.*?)`/
        .exec(sqliteRemedy("better-sqlite3-12", join(folder, cwd), root))?.[1]
        ?.replaceAll(folder, "");
    };
    const archive = "node_modules/rmm/server/db/dialect/older-node/x-1.tgz";
    expect(at("app", "app", true)).toBe(`npm install ${archive}`);
    expect(at("app", "data", true)).toBe(`npm install --prefix /app /app/${archive}`);
    expect(at("usr/lib", "data", false)).toBe(`npm install -g /usr/lib/${archive}`);
  });
});
