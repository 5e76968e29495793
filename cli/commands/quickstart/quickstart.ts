import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { keychainOf, keychainProblem } from "../../profile/keychain.ts";
import { type DemoServer, startDemoServer } from "./demo-server.ts";
import { fromPackage } from "./from-package.ts";
import type { Stage } from "./stage.ts";
import { auditStory } from "./story-audit.ts";
import { bookStory } from "./story-book.ts";
import { fleetStory } from "./story-fleet.ts";
import { peopleStory } from "./story-people.ts";
import { type Rmm, type Transcript, transcriptOf } from "./transcript.ts";
import { keptText, nextText } from "./what-next.ts";

interface Options {
  keep: boolean;
  port: string;
  rmm: Rmm;
}

/** Runs the story; whatever happens, the server stops and the folder goes, unless they are to be kept. */
export async function quickstart(context: Context, options: Options): Promise<number> {
  const started = Date.now();
  const interrupted = context.shell.signal;
  const before = process.cwd();
  const dir = await mkdtemp(join(tmpdir(), "rmm-quickstart-"));
  let server: DemoServer | undefined;
  let kept = false;
  try {
    await cp(fromPackage("fixtures/files/tenants.yaml"), join(dir, "tenants.yaml"));
    process.chdir(dir);
    const say = transcriptOf(context, { dir, signal: interrupted, rmm: options.rmm });
    server = await openStage(say, dir, options, interrupted);
    const facts = await tell({ say, server, dir });
    const seconds = Math.round((Date.now() - started) / 1000);
    kept = options.keep;
    const hasKeychain = async () => (await keychainProblem(keychainOf(context.shell))) === undefined;
    await say.text(kept ? keptText(dir, server, seconds) : nextText(seconds, await hasKeychain()));
    const result = { ok: true, seconds, url: kept ? server.url : null, dir: kept ? dir : null, ...facts };
    if (isForPrograms(context)) await printResult(context, result, { fields: Object.keys(result) });
    return 0;
  } catch (error) {
    throw interrupted.aborted ? interruption() : await withServerLog(error, server);
  } finally {
    process.chdir(before);
    if (kept) server?.leaveRunning();
    else {
      await server?.stop();
      await rm(dir, { recursive: true, force: true });
    }
  }
}

async function openStage(say: Transcript, dir: string, { port, keep }: Options, signal: AbortSignal) {
  await say.text(
    `This starts a server of its own in ${dir}, and does with it what you would do.\n` +
      "Lines that begin with $ are what you would type; what follows is the real answer.",
  );
  await say.heading("Start a server");
  await say.text(
    "Without settings it keeps its data in SQLite. One address may enroll ten devices a minute; all 50 simulated " +
      "devices live on this machine, so that limit is raised here.",
  );
  const words = ["rmm", "server", "start", "--json", "--port", port, "--data-dir", "data"];
  await say.typed(`AGENT_ENROLL_RATE_LIMIT=1000 ${words.join(" ")} &`);
  const server = await startDemoServer({ dir, port, detached: keep, signal });
  await say.answer(`${JSON.stringify({ event: "listening", url: server.url })}\n`);
  return server;
}

async function tell(stage: Stage): Promise<{ organizations: number; devices: number; auditEntriesVerified: number }> {
  await peopleStory(stage);
  const organizations = await bookStory(stage);
  const { devices, org } = await fleetStory(stage);
  const auditEntriesVerified = await auditStory(stage, org);
  return { organizations, devices, auditEntriesVerified };
}

const interruption = () => new CliError("Interrupted", { exit: "interrupted", code: "INTERRUPTED" });

async function withServerLog(error: unknown, server: DemoServer | undefined): Promise<unknown> {
  if (!(error instanceof CliError) || server === undefined) return error;
  const { message, exit, code, hint } = error;
  const log = await server.lastLines(15);
  return new CliError(message, { exit, code, hint, cause: error, details: ["The server's last lines:", ...log] });
}
