import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const SERVICE = "rmm";

export interface KeychainCall {
  readonly action: "get" | "set" | "remove";
  readonly account: string;
  readonly secret?: string;
}

/** Reads a call on stdin and answers on stdout: a secret is in no argument and no variable. */
const program = `
const { getPassword, setPassword, deletePassword } = await import(process.argv[1]);
let text = "";
for await (const chunk of process.stdin) text += chunk;
const { service, action, account, secret } = JSON.parse(text);
const work = { get: () => getPassword(service, account), set: () => setPassword(service, account, secret), remove: () => deletePassword(service, account) };
const answer = await work[action]().then((value) => ({ value: action === "get" ? value ?? undefined : undefined }), (error) => ({ error: String(error?.message ?? error) }));
process.stdout.write(JSON.stringify(answer), () => process.exit());
`;

/**
 * Calls the keychain in a separate process that is killed after the time limit: a call that hangs blocks a thread, and
 * a Node process does not exit before its threads.
 */
export async function askKeychain(
  call: KeychainCall,
  limitMs: number,
  silent: () => Error,
): Promise<string | undefined> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve("keytar/keytar.js")).href;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program, library], {
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, limitMs);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  child.stdin.on("error", () => undefined).end(JSON.stringify({ service: SERVICE, ...call }));
  try {
    await new Promise<void>((resolve, reject) => child.on("error", reject).on("close", () => resolve()));
  } finally {
    clearTimeout(timer);
  }
  if (late) throw silent();
  if (text === "") throw new Error("it cannot be reached");
  const { value, error } = JSON.parse(text) as { value?: string; error?: string };
  if (error !== undefined) throw new Error(error);
  return value;
}
