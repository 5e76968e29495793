import type { Command } from "commander";
import { escapeInvisible } from "#contract/core/characters";
import type { Elevation } from "#sdk/generated/models/index";
import { type Context, openContext } from "../../context.ts";
import { parseDuration } from "../../duration.ts";
import { declined, missingInput, usageError } from "../../errors/cli-error.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { endpointFlags } from "../../generic/endpoint-flags.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { readSecrets } from "../../generic/secret-flags.ts";
import { placeText } from "../../generic/subject.ts";
import type { CommandSpec } from "../../manifest.ts";
import { prompterOf } from "../../prompt.ts";
import type { Run } from "../../register.ts";
import { takes } from "../../taken-flags.ts";
import { approve, proofOf } from "./approve.ts";
import { refuseBeginnings, requestsCalled } from "./called.ts";
import { described } from "./described.ts";

const MINUTE_MS = 60_000;
const proofs = ["reauth-password", "reauth-mfa-code"] as const;

type Options = Readonly<Record<string, unknown>> & {
  readonly for?: string;
  readonly reason?: string;
  readonly browser?: boolean;
};

/** `rmm pam approve` and `deny`: one request or several, each shown whole before it is decided. */
export function registerDecision(command: Command, run: Run, spec: CommandSpec, decision: "approve" | "deny"): void {
  takes(command, ...endpointFlags(spec))
    .description(`${decision === "approve" ? "Approve" : "Deny"} requests for elevated rights, each shown first`)
    .argument("[ids...]", "ids, or beginnings of ids that wait")
    .usage("<id>... [flags]")
    .option("--reason <text>", "why; kept with the decision")
    .addHelpText("before", `Examples:\n  rmm pam ${decision} 01a22c10-be4c --reason "known tool"\n`)
    .addHelpText("after", helpOf(decision));
  if (decision === "approve") {
    command.option("--for <duration>", "how long the rights last, 1m to 24h (default 15m)");
    for (const flag of proofs) {
      command.option(`--${flag}-file <path>`, `${whatIs[flag]}, from a file`);
      command.option(`--${flag}-stdin`, `${whatIs[flag]}, from stdin`);
    }
    command.option("--no-browser", "where an approver device is asked, only print the address");
  }
  command.action((ids: string[]) =>
    run(async (shell, globals) =>
      decide(await openContext(shell, globals), spec, { ids, decision, options: command.opts() }),
    ),
  );
}

const whatIs = { "reauth-password": "own password, at the highest risk", "reauth-mfa-code": "code of the app instead" };

const helpOf = (decision: string) => `
${decision === "approve" ? "At the highest risk it asks for the own password, or for a code of the\nauthenticator app where the account has none. Where it takes an approver device\nit opens a page of the server that asks it, one request at a time.\n\n" : ""}Ids begin with the time: give as many characters of one as lists show.
The first decision counts: exit 6 where somebody else was faster.

Permission: pam:approve
Credential: user
MFA:        needed
Audit:      pam.elevation_request.${decision}
`;

interface Deciding {
  readonly ids: readonly string[];
  readonly decision: "approve" | "deny";
  readonly options: Options;
}

/** Shows the requests, asks, sends the decision and says what came of it. Returns the exit code. */
export async function decide(
  context: Context,
  spec: CommandSpec,
  { ids, decision, options }: Deciding,
): Promise<number> {
  const { globals, shell } = context;
  const durationMinutes = options.for === undefined ? undefined : minutesOf(options.for);
  await checkCredential(context, spec);
  const given = await readSecrets(context, decision === "approve" ? proofs : [], options);
  if (globals.yes) refuseBeginnings(ids);
  const requests = await requestsCalled(context, ids);
  for (const request of requests) for (const line of described(request, shell.now())) await context.notice(line);
  if (!globals.yes && !globals.dryRun) await confirm(context, decision, requests);
  const secrets = decision === "approve" ? await proofOf(context, requests, given) : given;
  const sent = {
    decision,
    ...(options.reason !== undefined && { reason: options.reason }),
    ...(durationMinutes !== undefined && { durationMinutes: String(durationMinutes) }),
  };
  const [only, ...others] = requests;
  if (only && others.length === 0) {
    const send = (proof?: string, own = secrets) =>
      runEndpoint(context, spec, {
        args: [only.id],
        options: { ...sent, ...(proof !== undefined && { proof }) },
        secrets: own,
      });
    const proves = decision === "approve" && !globals.dryRun;
    const mayOpen = options.browser !== false;
    const code = proves ? await approve(context, only, { send, secrets, mayOpen }) : await send();
    const waits = code === 0 && decision === "approve" && !globals.dryRun && only.deviceId !== null;
    // A tool is run by the server.
    if (waits && only.flowType !== "ai_tool_action")
      await context.notice(
        `Where the server carries approvals out (PAM_ACTUATOR_ENABLED) the device does it by: \`rmm pam actuate ${only.deviceId} --elevation-request-id ${only.id}\``,
      );
    return code;
  }
  const each = requests.map(({ id, deviceHostname }) => ({ args: [id], called: `${deviceHostname ?? "?"} ${id}` }));
  return runEndpoint(context, spec, { args: [], options: sent, secrets, each });
}

function minutesOf(text: string): number {
  const minutes = parseDuration(text, "--for") / MINUTE_MS;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > 1_440)
    throw usageError("--for must be whole minutes, from 1m to 24h");
  return minutes;
}

async function confirm(context: Context, decision: string, requests: readonly Elevation[]): Promise<void> {
  const [only] = requests;
  const what =
    requests.length === 1 && only
      ? `${escapeInvisible(only.toolName ?? only.subjectUsername) || "the agent's own account"} on ${only.deviceHostname ?? "a device that has left"}`
      : `${requests.length} requests`;
  const question = `${decision === "approve" ? "Approve" : "Deny"} ${what} ${placeText(context)}`;
  if (!context.interactive) throw missingInput(["--yes"], `It would do this: ${question}`);
  if (!(await prompterOf(context.shell).confirm(`${question}?`))) throw declined("Nothing was decided");
}
