import type { Command } from "commander";
import type { RegistrationOptions } from "#sdk/generated/models/index";
import { withDevice } from "../../approver-device/ask-device.ts";
import { type Context, openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { endpointFlags } from "../../generic/endpoint-flags.ts";
import { withoutPasswordFlag } from "../../generic/own-password.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import type { Register } from "../../register.ts";
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
    return withDevice(
      context,
      { pageUrl, challenge, host: rp.id, timeoutMs, what, mayOpen: browser !== false },
      (response) =>
        runEndpoint(context, finish, { args: [], options: { response, ...(label !== undefined && { label }) } }),
    );
  };
  return runEndpoint(context, begin, { args: [], options, finish: keep });
}
