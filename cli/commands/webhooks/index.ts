import type { Command } from "commander";
import { openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { wrapWords } from "../../output/wrap.ts";
import type { Register, Run } from "../../register.ts";
import { followDeliveries } from "./follow.ts";
import { registerListen } from "./listen.ts";
import { registerVerify } from "./verify.ts";

/** Adds what forwards events and judges deliveries, and lets those of a webhook be watched. */
export const extendWebhooks: Register = async (group, run, program) => {
  const { eventKinds } = await import("#contract/core/events");
  const kindsHelp = `\n${wrapWords(`Kinds of events: ${eventKinds.join(", ")}`, 80, 2)}\n`;
  for (const name of ["create", "update"])
    group.commands.find((one) => one.name() === name)!.addHelpText("after", kindsHelp);
  group.commands.find((one) => one.name() === "create")!.addHelpText("after", secretHelp);
  for (const name of ["test", "retry"]) await sayWhereItGoes(group, run, name);
  await followDeliveries(group, run, program);
  await registerListen(group.command("listen").addHelpText("after", kindsHelp), run, program);
  await registerVerify(group.command("verify"), run, program);
};

/** The answer comes before the attempt is made. */
async function sayWhereItGoes(group: Command, run: Run, name: string): Promise<void> {
  const command = group.commands.find((one) => one.name() === name)!;
  const spec = (await commandsOf("webhooks")).find((one) => one.name === name)!;
  command.action((...args: unknown[]) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const ids = args.slice(0, spec.params.length) as (string | undefined)[];
      const noteOn = () => [`What comes of it: \`rmm webhooks deliveries ${ids[0]}\``];
      return runEndpoint(context, spec, { args: ids, options: command.opts(), noteOn });
    }),
  );
}

const secretHelp = `
Without --secret-file a secret is made, and is all that stdout gets. The
receiver checks signatures with it:
  rmm webhooks create --name pager --url https://hooks.example/rmm \\
    --events 'device.*' > webhook.secret
`;
