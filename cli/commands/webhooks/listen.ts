import { randomBytes } from "node:crypto";
import { type Context, openContext } from "../../context.ts";
import { missingInput } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { maskSecrets } from "../../generic/minted.ts";
import { namesOf } from "../../generic/names.ts";
import { checkFields } from "../../output/print.ts";
import { cleanToken, readSecretFile } from "../../profile/secret-text.ts";
import type { Register } from "../../register.ts";
import { showSecretText, writeTo } from "../../shell.ts";
import { proving, takes } from "../../taken-flags.ts";
import { streamEvents } from "./event-stream.ts";
import { type Forwarded, Forwarder } from "./forwarder.ts";
import { attempt, inSeconds, type LineColumn, lineOf, milliseconds } from "./line-of.ts";
import { checkForward } from "./receiver.ts";

interface Options {
  events: string;
  forward?: string;
  secretFile?: string;
}

const outcome = ["at", "event", "status", "responseStatus", "responseTimeMs", "attempt"] as const;
const shown: readonly (keyof Forwarded)[] = [...outcome, "errorMessage", "eventId"];
const fields: readonly (keyof Forwarded)[] = [...shown, "nextAttemptAt", "deliveryId"];
const says: { readonly [F in keyof Forwarded]?: LineColumn["say"] } = {
  ...{ at: inSeconds, attempt, responseTimeMs: milliseconds },
  nextAttemptAt: (time) => `again at ${inSeconds(time)}`,
};
const columns = shown.map((name): LineColumn => ({ name, isId: name === "eventId", say: says[name] }));

/** `rmm webhooks listen`: a receiver that the server cannot reach gets signed deliveries while the command runs. */
export const registerListen: Register = (command, run) => {
  takes(command, ...proving, "org", "json=", "ndjson", "columns");
  command
    .description("Forward events to a receiver on this machine, as a webhook would, until Ctrl-C")
    .option("--events <patterns>", "kinds, prefixes such as device.*, or *, separated by commas", "*")
    .option("--forward <url>", "where they are posted, such as http://127.0.0.1:8080/hook")
    .option("--secret-file <path>", "sign with the secret in this file; without it one is made and shown")
    .addHelpText("before", examples)
    .addHelpText("after", help)
    .action(() => run(async (shell, globals) => listen(await openContext(shell, globals), command.opts<Options>())));
};

const examples = `Examples:
  rmm webhooks listen --events 'device.*' --forward http://127.0.0.1:8080/hook
  rmm webhooks listen --org contoso-dental --forward http://127.0.0.1:8080/hook \\
    --secret-file webhook.secret --ndjson
`;
const help = `
Tells what happens from now on in one organization, with the headers and the
signature of a delivery; needs organizations:write and a second factor, as
making a webhook does. Prints a line for each attempt. What the receiver does
not take is tried again up to five times, and holds up no other event. While
the server is away the command waits for it, and goes on where it was.
`;

async function listen(context: Context, { events, forward, secretFile }: Options): Promise<number> {
  const { shell, globals } = context;
  if (forward === undefined) throw missingInput(["--forward"], "Where events are posted: http://127.0.0.1:8080/hook");
  const url = checkForward(forward, globals);
  checkFields(globals, { fields });
  await checkCredential(context, (await commandsOf("webhooks")).find(({ name }) => name === "events")!);
  const secret =
    secretFile === undefined
      ? `whsec_${randomBytes(32).toString("base64url")}`
      : cleanToken(shell, await readSecretFile(shell, secretFile, "--secret-file"), "--secret-file");
  await maskSecrets(context, [secret]);
  const named = context.settings.org.value;
  const orgId = named ? await namesOf(context).orgId(named) : undefined;
  const print = (row: Forwarded) => writeTo(shell, "stdout", `${lineOf(context, row, columns)}\n`);
  const forwarder = new Forwarder({ url, secret, print, now: shell.now, signal: shell.signal });
  const signal = AbortSignal.any([shell.signal, forwarder.broken]);
  try {
    await streamEvents(context, {
      query: { events, ...(orgId !== undefined && { orgId }) },
      signal,
      take: (event) => forwarder.take(event),
      async ready() {
        await context.notice(`Ready: ${events} ${named ? `of ${named} ` : ""}goes to ${url} until Ctrl-C`);
        if (secretFile === undefined) await showSecretText(shell, `Signed with the secret: ${secret}\n`);
        else await context.notice(`Signed with the secret in ${secretFile}`);
      },
    });
  } finally {
    await forwarder.close();
  }
  forwarder.broken.throwIfAborted();
  const { delivered, failed } = forwarder.counts;
  await context.notice(`${delivered} delivered, ${failed} failed, ${forwarder.waiting} not delivered when it ended`);
  return exitCode("interrupted");
}
