import type { DeviceRecord } from "#fixtures/simulators/agent/device";
import { type Context, openContext } from "../../context.ts";
import { missingInput } from "../../errors/cli-error.ts";
import { type ExitName, exitCode } from "../../errors/exit-codes.ts";
import { exitOfItems } from "../../errors/exit-of-items.ts";
import { hintOfCode } from "../../errors/hints.ts";
import { warnOfGit } from "../../generic/git-warning.ts";
import type { Globals } from "../../globals.ts";
import { withSpinner } from "../../output/spinner.ts";
import { cleanToken, readSecretFile } from "../../profile/secret-text.ts";
import type { Shell } from "../../shell.ts";
import { FleetFile, readFleet } from "./kept-fleet.ts";
import { type Options, readShares, readSystems, readTransport, span, wholeNumber } from "./options.ts";
import { lineOf, Report } from "./report.ts";

const COUNT_MAX = 20_000;
const STATUS_EVERY_MS = 500;

export async function simulateAgents(shell: Shell, globals: Globals, options: Options): Promise<number> {
  const context = await openContext(shell, globals);
  const { simulate } = await import("#fixtures/simulators/agent/simulation");
  const { misbehaviours } = await import("#fixtures/simulators/agent/misbehaviour");
  const server = context.settings.server.value;
  const chosen = {
    count: wholeNumber(options.count, "--count", COUNT_MAX),
    seed: options.seed,
    intervalMs: span(options.interval, "--interval", 1_000),
    transport: readTransport(options.transport),
    sockets: wholeNumber(options.sockets, "--sockets", 60_000),
    ...(options.os !== undefined && { systems: readSystems(options.os) }),
    ...(options.misbehave !== undefined && { misbehave: readShares(options.misbehave, Object.keys(misbehaviours)) }),
  };
  const forMs = options.for === undefined ? undefined : span(options.for, "--for", 1_000);
  const known = options.state === undefined ? [] : await readFleet(options.state, server, options.seed);
  const admission = await readAdmission(context, options, known, chosen.count);
  await (await context.client("none")).serviceStatus.health();
  if (options.state !== undefined) await warnOfGit(context, options.state);

  const report = new Report(context);
  const file = options.state === undefined ? undefined : new FleetFile(options.state, server, options.seed);
  const over = forMs === undefined ? [] : [AbortSignal.timeout(forMs)];
  const broken = [report.broken, ...(file ? [file.broken] : [])];
  const refusals: Refusal[] = [];
  const simulation = simulate({
    ...chosen,
    ...admission,
    baseUrl: server,
    known,
    now: shell.now,
    signal: AbortSignal.any([shell.signal, ...over, ...broken]),
    changed: (records) => file?.keep(records),
    tell: (event) => {
      if (event["event"] === "refused" && event["deviceId"] === undefined)
        refusals.push({ exit: exitOf(Number(event["status"])), code: String(event["code"]) });
      report.tell(event);
    },
  });
  const summary = await withSpinner(context, "Enrolling", async (progress) => {
    const timer = setInterval(() => progress.say(lineOf(simulation.summary())), STATUS_EVERY_MS);
    return simulation.ended.finally(() => clearInterval(timer));
  });
  await file?.close();
  for (const signal of broken) signal.throwIfAborted();
  await report.end(summary);
  await tellRefusals(context, refusals);
  if (shell.signal.aborted) return exitCode("interrupted");
  return exitCode(
    exitOfItems({ done: summary.enrolled, failed: refusals.map(({ exit }) => exit), skipped: 0, interrupted: false }),
  );
}

interface Refusal {
  readonly exit: ExitName;
  readonly code: string;
}

/** Why devices were not let in, once for each reason. */
async function tellRefusals(context: Context, refusals: readonly Refusal[]): Promise<void> {
  for (const code of new Set(refusals.map((one) => one.code))) {
    const count = refusals.filter((one) => one.code === code).length;
    await context.notice([`${count} not enrolled: ${code}`, hintOfCode(code)].filter(Boolean).join(". "));
  }
}

/** What new devices are let in with; not needed where the file knows all of them. */
async function readAdmission({ shell }: Context, options: Options, known: readonly DeviceRecord[], count: number) {
  const { keyFile, secretFile } = options;
  const fromEnv = shell.env["RMM_ENROLLMENT_KEY"];
  const all = known.filter(({ identity, index }) => identity !== undefined && index < count).length === count;
  if (keyFile === undefined && !fromEnv && !all)
    throw missingInput(
      ["--key-file"],
      `Mint a key: \`rmm enrollment-keys create --org <org> --name trial --max-usage ${count} --secret-file hq.key\``,
    );
  const key = keyFile === undefined ? (fromEnv ?? "") : await readSecretFile(shell, keyFile, "--key-file");
  const source = keyFile === undefined ? "RMM_ENROLLMENT_KEY" : "--key-file";
  const enrollmentKey = key === "" ? "" : cleanToken(shell, key, source);
  if (secretFile === undefined) return { enrollmentKey };
  const secret = await readSecretFile(shell, secretFile, "--secret-file");
  return { enrollmentKey, enrollmentSecret: cleanToken(shell, secret, "--secret-file") };
}

function exitOf(status: number): ExitName {
  if (status === 401) return "unauthenticated";
  if (status === 403) return "forbidden";
  if (status === 404) return "notFound";
  return status === 409 || status === 422 ? "conflict" : "failure";
}
