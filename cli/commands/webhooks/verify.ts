import type { VerifyOptions, WebhookVerificationError } from "#sdk/verify-webhook";
import { type Context, openContext } from "../../context.ts";
import { CliError, missingInput, usageError } from "../../errors/cli-error.ts";
import { readBytes } from "../../input/read-text.ts";
import { printResult } from "../../output/print.ts";
import { cleanToken, readSecretFile } from "../../profile/secret-text.ts";
import type { Register } from "../../register.ts";
import { shaped, takes } from "../../taken-flags.ts";

interface Options {
  bodyFile?: string;
  requestHeader: readonly string[];
  secretFile?: string;
  tolerance?: string;
}

/** `rmm webhooks verify`: judges a delivery that was kept, without server and sign-in. */
export const registerVerify: Register = (command, run) => {
  const collect = (value: string, known: string[]) => [...known, value];
  takes(command, ...shaped);
  command
    .description("Check the signature of a delivery that was kept, and print its event. Asks no server")
    .option("--body-file <path>", "body as it came, byte for byte; - reads stdin")
    .option(
      "-H, --request-header <line>",
      'header of the request, such as "X-Webhook-Timestamp: 1900000000"; repeatable',
      collect,
      [],
    )
    .option("--secret-file <path>", "read the webhook's secret from a file")
    .option("--tolerance <seconds>", "how old the signature may be (default: 300)")
    .addHelpText("before", examples)
    .addHelpText("after", "\nExit 0: it is genuine. 15: it is not; the message says why.\n")
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        return verify(context, command.opts<Options>());
      }),
    );
};

const examples = `Examples:
  rmm webhooks verify --body-file body.json --secret-file webhook.secret \\
    -H "X-Webhook-Timestamp: 1900000000" \\
    -H "X-Webhook-Signature: sha256=…"
`;

async function verify(
  context: Context,
  { bodyFile, requestHeader: header, secretFile, tolerance }: Options,
): Promise<number> {
  const missing = Object.entries({ "--body-file": bodyFile, "--secret-file": secretFile }).flatMap(([flag, value]) =>
    value === undefined ? [flag] : [],
  );
  if (header.length === 0) missing.push("--request-header");
  if (bodyFile === undefined || secretFile === undefined || header.length === 0)
    throw missingInput(missing, "The signature is in X-Webhook-Signature, its time in X-Webhook-Timestamp");
  const { shell } = context;
  const headers = readHeaders(header);
  const options: VerifyOptions = { now: shell.now, toleranceSeconds: readSeconds(tolerance) };
  const secret = cleanToken(shell, await readSecretFile(shell, secretFile, "--secret-file"), "--secret-file");
  const body = await readBytes(shell, bodyFile, "--body-file");
  const { verifyWebhook, WebhookVerificationError } = await import("#sdk/verify-webhook");
  try {
    const event = await verifyWebhook(body, headers, secret, options);
    await context.notice("Genuine: signed with this secret");
    await printResult(context, event, { fields: ["id", "type", "timestamp", "orgId", "siteId", "data"] });
    return 0;
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    const { message, fault } = error as WebhookVerificationError;
    throw new CliError(`Not verified: ${message}`, {
      exit: "notGenuine",
      code: fault.toUpperCase(),
      hint: hints[fault],
    });
  }
}

const hints: Partial<Record<string, string>> = {
  timestamp_out_of_tolerance: "A delivery that was kept is judged with --tolerance",
  wrong_signature: "The body must be as it came: JSON that was read and written again has other bytes",
};

/** A header that is given twice stays two: it counts as not there. */
function readHeaders(given: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const one of given) {
    const [, name, value] = /^([A-Za-z0-9-]+):\s*(.*?)\s*$/.exec(one) ?? [];
    if (name === undefined || value === undefined)
      throw usageError(`--request-header ${one}: it is written as "Name: value"`);
    headers[name.toLowerCase()] = [...(headers[name.toLowerCase()] ?? []), value];
  }
  return headers;
}

function readSeconds(given = "300"): number {
  if (!/^\d{1,12}$/.test(given)) throw usageError(`--tolerance ${given} is no number of seconds`);
  return Number(given);
}
