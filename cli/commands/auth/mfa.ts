import type { RmmClient } from "#sdk/client";
import { type Context, openContext } from "../../context.ts";
import { CliError, missingInput } from "../../errors/cli-error.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { maskSecrets, printMinted, requireMintShown, type SecretFile, withSecretFile } from "../../generic/minted.ts";
import { addEndpoint } from "../../generic/noun-group.ts";
import { withoutPasswordFlag } from "../../generic/own-password.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { readSecrets } from "../../generic/secret-flags.ts";
import type { CommandSpec } from "../../manifest.ts";
import { isForPrograms } from "../../output/print.ts";
import { fitted } from "../../output/wrap.ts";
import { prompterOf } from "../../prompt.ts";
import type { Register } from "../../register.ts";
import { showSecretText, writeTo } from "../../shell.ts";
import { askCode } from "../../sign-in/prove-factor.ts";
import { proving, shaped, takes } from "../../taken-flags.ts";
import { enableOnce } from "./mfa-enable.ts";

/** `rmm auth mfa setup|enable|step-up|disable|recovery-codes`. */
export const registerMfa: Register = async (group, run, program) => {
  const commands = await commandsOf("mfa");
  group.description(group.summary()).usage("<command> [flags]");
  group.addHelpText("before", "Examples:\n  rmm auth mfa setup\n  rmm auth mfa step-up\n");
  const setup = takes(group.command("setup").summary("Set up a second factor"), ...shaped, ...proving);
  setup
    .description(
      "Show the secret, as a QR code on a terminal, and turn the factor on with a first code. Without a terminal it " +
        "prints the secret; turn it on with `rmm auth mfa enable` within ten minutes",
    )
    .option("--current-password-file <path>", "your password; read from a file")
    .option("--current-password-stdin", "your password; read from stdin")
    .option(...withoutPasswordFlag)
    .option("--secret-file <path>", "write the secret and the recovery codes to a new file only you can read")
    .addHelpText("before", setupExamples)
    .action(() =>
      run(async (shell, globals) =>
        setUp(await openContext(shell, globals), commands.find(({ name }) => name === "setup")!, setup.opts()),
      ),
    );
  for (const name of ["enable", ...ofFactor]) {
    const spec = commands.find((one) => one.name === name);
    if (spec !== undefined) addEndpoint(group, spec, run);
  }
  await extendMfa(group, run, program);
};

/** Commands that are about a factor that is on. */
const ofFactor = ["step-up", "disable", "recovery-codes"] as const;

/** Lets those commands look first whether there is one, under `rmm mfa` and `rmm auth mfa` alike. */
export const extendMfa: Register = async (group, run) => {
  for (const spec of await commandsOf("mfa")) {
    const command = group.commands.find((one) => one.name() === spec.name);
    if (command === undefined) continue;
    if (spec.name === "enable") enableOnce(command, spec, run);
    if (!(ofFactor as readonly string[]).includes(spec.name)) continue;
    command.action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        await requireFactor(context);
        return runEndpoint(context, spec, { args: [], options: command.opts() });
      }),
    );
  }
};

/** Nobody is asked for a code of a factor that is not there. */
async function requireFactor(context: Context): Promise<void> {
  if (!context.interactive || context.globals.dryRun) return;
  const client = await context.client();
  const { mfaEnabled } = await client.users.me({}, { signal: context.shell.signal });
  if (mfaEnabled !== false) return;
  throw new CliError("This account has no second factor", {
    exit: "failure",
    code: "MFA_NOT_ENABLED",
    hint: "Set one up first with `rmm auth mfa setup`",
  });
}

const setupExamples = `Examples:
  rmm auth mfa setup
  rmm auth mfa setup --current-password-file p.txt --json
  rmm auth mfa setup --current-password-file p.txt --secret-file mfa.json
`;

async function setUp(context: Context, spec: CommandSpec, options: Record<string, unknown>): Promise<number> {
  const here = context.interactive && !isForPrograms(context);
  if (options["secretFile"] === undefined && !here) await requireMintShown(context, spec, false);
  const client = await context.client();
  const currentPassword = await passwordOf(context, options);
  await withSecretFile(
    context,
    options["secretFile"] as string | undefined,
    async (file) => {
      const body = currentPassword === undefined ? {} : { currentPassword };
      const made = await client.mfa.setup({ body }, { signal: context.shell.signal });
      if (here) return enableHere(context, client, made, file);
      await printMinted(context, spec, { ...made }, file);
      await context.notice("Turn it on within ten minutes: `rmm auth mfa enable --code-stdin`");
    },
    {
      made: "The second factor is set up but not yet on",
      remedy: "It is not on yet: set it up again, with another file",
    },
  );
  return 0;
}

/** None for an account without one, which signs in through an identity provider. */
async function passwordOf(context: Context, options: Record<string, unknown>): Promise<string | undefined> {
  const { shell } = context;
  const secrets = await readSecrets(context, ["current-password"], options);
  const question = "Your password (just Enter if you have none)";
  const given = secrets.get("current-password");
  if (given === undefined && options["currentPassword"] === false) return undefined;
  if (given === undefined && !context.interactive)
    throw missingInput(
      ["--current-password-file or --current-password-stdin"],
      "An account without a password gives --no-current-password",
    );
  const typed = given ?? (await prompterOf(shell).secret(question));
  if (typed === undefined || typed === "") return undefined;
  shell.secrets.add(typed);
  return typed;
}

type Made = Awaited<ReturnType<RmmClient["mfa"]["setup"]>>;

/** Shows the secret or writes it to the file, then enables the factor with a first code. */
async function enableHere(context: Context, client: RmmClient, made: Made, file?: SecretFile): Promise<void> {
  const { shell } = context;
  const { secret, otpAuthUrl } = made;
  if (file) {
    await maskSecrets(context, [secret, otpAuthUrl, ...made.recoveryCodes]);
    await file.keep(JSON.stringify({ secret, otpAuthUrl, recoveryCodes: made.recoveryCodes }));
  } else await showSecret(context, otpAuthUrl, secret);
  const { recoveryCodes } = await askCode(context, "Code that your app shows", (code) =>
    client.mfa.enable({ body: { code } }, { signal: shell.signal }),
  );
  if (file) return context.notice("The second factor is on. Keep the file: its recovery codes work once each");
  await maskSecrets(context, recoveryCodes);
  await writeTo(shell, "stdout", `${recoveryCodes.join("\n")}\n`);
  await context.notice(
    "The second factor is on. Keep these recovery codes: each works once, and they are not shown again",
  );
}

/** On the terminal alone: a QR code for a phone, and the same secret to type. The picture stands last, above the question. */
async function showSecret({ shell }: Context, url: string, secret: string): Promise<void> {
  const { qrLines } = await import("../../output/qr-code.ts");
  const grouped = secret.match(/.{1,4}/g)?.join(" ");
  const picture = await qrLines(url, shell.columns);
  const scan =
    picture.length > 0
      ? "Scan this with your authenticator app, or type this secret into it:"
      : "Type this secret into your authenticator app:";
  await showSecretText(shell, [fitted(shell, scan), `  ${grouped}`, ...picture, ""].join("\n"));
}
