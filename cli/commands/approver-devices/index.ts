import { randomInt } from "node:crypto";
import type { Command } from "commander";
import type { RegistrationOptions } from "#sdk/generated/models/index";
import { withDevice } from "../../approver-device/ask-device.ts";
import { type Context, openContext } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { endpointFlags } from "../../generic/endpoint-flags.ts";
import { withoutPasswordFlag } from "../../generic/own-password.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import type { Register } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { takes } from "../../taken-flags.ts";

/** `rmm approver-devices register`: options, the page in a browser, and what it answers. */
export const extendApproverDevices: Register = async (group, run) => {
  const specs = await commandsOf("approver-devices");
  const spec = (verb: string) => specs.find(({ name }) => name === verb)!;
  const [begin, finish] = [spec("registration-options"), spec("verify")];
  const command = group.command("register").summary("Register this machine, in a browser, to prove approvals with");
  takes(command, ...endpointFlags(finish))
    .description("Register this machine, in a browser, to prove approvals with")
    .usage("[flags]")
    .option("--label <text>", "what you call it: laptop")
    .option("--current-password-file <path>", "own password, from a file")
    .option("--current-password-stdin", "own password, from stdin")
    .option(...withoutPasswordFlag)
    .option("--mfa-code-file <path>", "code of the app, where there is no password")
    .option("--mfa-code-stdin", "code of the app, from stdin")
    .option("--no-browser", "only print the address")
    .addHelpText("before", "Examples:\n  rmm approver-devices register --label laptop\n")
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => register(await openContext(shell, globals), { begin, finish, command })),
    );
  group.addHelpText("after", "\nAlso: authenticator is short for approver-devices.\n");
};

const help = `
The page is one of the server, at its public address, and must be opened on
the machine that is registered.

Permission: none
Credential: user
MFA:        needed
Audit:      auth.authenticator.device.register
`;

interface Registering {
  readonly begin: CommandSpec;
  readonly finish: CommandSpec;
  readonly command: Command;
}

interface Begun {
  readonly options: RegistrationOptions;
  readonly pageUrl: string;
}

async function register(context: Context, { begin, finish, command }: Registering): Promise<number> {
  const { label, browser, ...options } = command.opts() as Record<string, unknown>;
  const keep = async (result: unknown) => {
    const { options: asked, pageUrl } = result as Begun;
    const { challenge, timeout: timeoutMs, rp } = asked;
    const what = "Register this machine";
    const code = String(randomInt(1_000_000)).padStart(6, "0");
    await writeTo(context.shell, "stderr", `Code to type on the page: ${code}\n`);
    return withDevice(
      context,
      { pageUrl, challenge, host: rp.id, timeoutMs, what, mayOpen: browser !== false },
      (answer) => {
        const response = JSON.stringify(responseWith(code, answer));
        return runEndpoint(context, finish, { args: [], options: { response, ...(label !== undefined && { label }) } });
      },
    );
  };
  return runEndpoint(context, begin, { args: [], options, finish: keep });
}

/**
 * The address of the page is in the argument list of the browser, which others on this machine may read, and with the
 * challenge anybody makes a credential. Only the page on which the person typed the code brings theirs; a wrong one ends it.
 */
function responseWith(code: string, answer: string): object {
  const { code: typed, response } = read(answer);
  if (typed === code && typeof response === "object" && response !== null) return response;
  throw new CliError("The code that was typed on the page is another one: nothing was registered", {
    exit: "unauthenticated",
    code: "DEVICE_UNANSWERED",
    hint: "Start again, and type the code that the command shows. If you typed that one, somebody else answered",
  });
}

function read(answer: string): { code?: unknown; response?: unknown } {
  try {
    return JSON.parse(answer) as object;
  } catch {
    return {};
  }
}
