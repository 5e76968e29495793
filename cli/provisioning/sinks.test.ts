import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { FileKey } from "./model.ts";
import type { Plan, Step } from "./plan.ts";
import { writeSecretFile } from "./secret-file.ts";
import { deliver, prepareSinks, type SinkContext, sinkConflicts } from "./sinks.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rmm-sinks-"));
  return () => rmSync(folder, { recursive: true, force: true });
});

function context(more: Partial<SinkContext> = {}) {
  const log: string[] = [];
  const made: SinkContext = {
    env: {},
    forPrograms: false,
    redeliver: false,
    writeUnmasked: async (line) => void log.push(`stderr ${line}`),
    keepOut: (secret) => void log.push(`mask ${secret}`),
    writeOut: async (line) => void log.push(`stdout ${line}`),
    ...more,
  };
  return { log, made };
}

const planOf = (...sinks: FileKey["sink"][]): Plan => {
  const keys = sinks.map((sink, at): Step => {
    const key: FileKey = { line: at + 1, path: `k[${at}]`, lines: {}, name: `k${at}`, ...(sink ? { sink } : {}) };
    return { action: "create", kind: "enrollmentKey", name: key.name, changes: [], body: {}, key };
  });
  const organization = {
    slug: "a",
    id: "o",
    organization: undefined,
    sites: [],
    contacts: [],
    keys,
    deletes: [],
    siteIds: new Map(),
    unchanged: 0,
    notes: [],
  };
  return { partnerId: "p", organizations: [organization], conflicts: [] };
};

describe("file sinks", () => {
  it("take away what a killed run left of the same secret, and nothing else", async () => {
    const draft = (name: string, text: string) => writeFileSync(join(folder, `.k.key.${name}.tmp`), `${text}\n`);
    draft("0123456789ab", "s3cret");
    draft("ba9876543210", "another");
    await writeSecretFile(join(folder, "k.key"), "s3cret");
    expect(readdirSync(folder).sort()).toEqual([".k.key.ba9876543210.tmp", "k.key"]);
  });

  it("are 0600 in folders of 0700, whole, with nothing left beside them", async () => {
    const path = join(folder, "a/b/key");
    await writeSecretFile(path, "s3cret");
    expect(readFileSync(path, "utf8")).toBe("s3cret\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, "a/b"))).toEqual(["key"]);
  });

  it("take the same secret twice, and never replace another or follow a link", async () => {
    const path = join(folder, "key");
    await writeSecretFile(path, "one");
    await writeSecretFile(path, "one");
    await expect(writeSecretFile(path, "two")).rejects.toMatchObject({ code: "SINK_OCCUPIED" });
    expect(readFileSync(path, "utf8")).toBe("one\n");
    const link = join(folder, "link");
    symlinkSync(join(folder, "nowhere"), link);
    await expect(writeSecretFile(link, "three")).rejects.toMatchObject({ code: "SINK_OCCUPIED" });
    expect(readdirSync(folder).sort()).toEqual(["key", "link"]);
  });

  it("are proved writable before anything is minted", async () => {
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "ok"));
    const plan = planOf(
      { kind: "file", path: join(folder, "file/key") },
      { kind: "file", path: join(folder, "ok/key") },
    );
    expect(await prepareSinks(plan, { env: {} })).toMatchObject([
      {
        line: 1,
        message: expect.stringMatching(/cannot be written: (a part of its path is no folder|it exists already)/),
      },
    ]);
    expect(readdirSync(join(folder, "ok"))).toEqual([]);
  });
});

describe("other sinks", () => {
  it("append to GITHUB_OUTPUT after the mask", async () => {
    const output = join(folder, "output");
    writeFileSync(output, "BEFORE=1\n");
    const { log, made } = context({ env: { GITHUB_OUTPUT: output } });
    await deliver({ kind: "github-output", name: "HQ_KEY" }, "s3cret", made);
    expect(readFileSync(output, "utf8")).toBe("BEFORE=1\nHQ_KEY=s3cret\n");
    expect(log).toEqual(["stderr ::add-mask::s3cret\n", "mask s3cret"]);
    expect(sinkConflicts(planOf({ kind: "github-output", name: "A" }), { env: {}, forPrograms: false })).toHaveLength(
      1,
    );
  });

  it("give stdout to one secret alone, unless results are for programs", async () => {
    const { log, made } = context();
    await deliver({ kind: "stdout" }, "s3cret", made);
    expect(log).toEqual(["mask s3cret", "stdout s3cret\n"]);
    const two = planOf({ kind: "stdout" }, { kind: "stdout" });
    expect(sinkConflicts(two, { env: {}, forPrograms: false })).toHaveLength(2);
    expect(sinkConflicts(two, { env: {}, forPrograms: true })).toEqual([]);
    const programs = context({ forPrograms: true });
    await deliver({ kind: "stdout" }, "s3cret", programs.made);
    expect(programs.log).toEqual(["mask s3cret"]);
  });
});
