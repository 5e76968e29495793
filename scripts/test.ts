import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { nounFiles } from "./gen/tree.ts";

/**
 * `npm test`: builds and runs every test. `npm test -- sites contacts`: proves these nouns alone, on both databases: their
 * feature tests, the contract, the golden files, and of the sweeps what is about them. Anything else goes to vitest.
 */
const given = process.argv.slice(2);
const nouns = nounFiles();
const wanted = nouns.filter(({ noun }) => given.includes(noun));
const aboutNouns = given.length > 0 && wanted.length === given.length;

/** What is about every noun, and looks at `NOUNS`. */
const common = [
  "sdk/contract",
  "scripts/gen.test.ts",
  "server/test/conformance",
  "server/test/golden",
  "server/test/canary/generated.test.ts",
];

if (aboutNouns) {
  // What they need of the build: the types hold, and the command is there to be started. Neither waits for the other.
  await Promise.all([run("tsc", ["-b"]), run("tsx", ["--conditions=source", "scripts/bundle.ts"])]);
  const rooms = wanted.map(({ area, noun }) => `server/features/${area}/${noun}/`).filter((room) => existsSync(room));
  // An endpoint without a key is in no sweep of keys: some files have nothing to do.
  await run("vitest", ["run", "--passWithNoTests", ...rooms, ...common], {
    NOUNS: wanted.map(({ noun }) => noun).join(","),
  });
} else {
  await run("npm", ["run", "build"]);
  await run("vitest", ["run", ...given]);
}

/** Ends this process where the command fails, with its code. */
async function run(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const shell = process.platform === "win32";
  const child = spawn(command, args, { stdio: "inherit", shell, env: { ...process.env, ...env } });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (status, signal) => resolve(status ?? (signal === null ? 1 : 128)));
  });
  if (code !== 0) process.exit(code);
}
