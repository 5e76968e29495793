import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const wanted = ["bin/rmm.js", "dist/rmm/entry.cjs", "dist/sdk/index.js", "fixtures/files/tenants.yaml", "README.md"];
const left = [
  ...[
    "rotated/contoso_api-key_ci.key",
    "bin/left.key",
    "dist/left.key",
    "secrets/hq",
    ".rmm/secrets.json",
    "token.txt",
  ],
  ...[
    "cli/program.ts",
    "dist/cli/program.js",
    "server/test/harness.ts",
    "dist/scripts/gen.js",
    "dist/cli/tsconfig.tsbuildinfo",
  ],
];

it("npm pack takes what the package needs, and no stray files", () => {
  const dir = mkdtempSync(join(tmpdir(), "rmm-pack-"));
  try {
    cpSync("package.json", join(dir, "package.json"));
    for (const path of [...wanted, ...left]) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), "x");
    }
    const printed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--offline"], { cwd: dir });
    const [packed] = JSON.parse(printed.toString()) as { files: { path: string }[] }[];
    expect(packed?.files.map(({ path }) => path).toSorted()).toEqual([...wanted, "package.json"].toSorted());
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
