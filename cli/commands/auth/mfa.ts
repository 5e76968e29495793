import { type Context, openContext } from "../../context.ts";
import { commandsOf } from "../../generic/commands-of.ts";
import { maskSecrets, printMinted } from "../../generic/minted.ts";
import { addEndpoint } from "../../generic/noun-group.ts";
import { readSecrets } from "../../generic/secret-flags.ts";
import type { CommandSpec } from "../../manifest.ts";
import { escapeText } from "../../output/escape.ts";
import { isForPrograms } from "../../output/print.ts";
import type { Register } from "../../program.ts";
import { prompterOf } from "../../prompt.ts";
import { writeTo } from "../../shell.ts";

/** `rmm auth mfa setup|enable|step-up|disable|recovery-codes`. */
export const registerMfa: Register = async (group, run) => {
  const commands = await commandsOf("mfa");
  group.description(group.summary()).usage("<command> [flags]");
  group.addHelpText("before", "Examples:\n  rmm auth mfa setup\n  rmm auth mfa step-up\n");
  const setup = group.command("setup").summary("Set up a second factor");
  setup
    .description(
      "Show the secret, as a QR code on a terminal, and turn the factor on with a first code. Where nobody can be\n" +
        "asked it prints the secret; turn it on with `rmm auth mfa enable` within ten minutes",
    )
    .option("--current-password-file <path>", "your password; read from a file")
    .option("--current-password-stdin", "your password; read from stdin")
    .addHelpText(
      "before",
      "Examples:\n  rmm auth mfa setup\n  rmm auth mfa setup --current-password-file p.txt --json\n",
    )
    .action(() =>
      run(async (shell, globals) =>
        setUp(await openContext(shell, globals), commands.find(({ name }) => name === "setup")!, setup.opts()),
      ),
    );
  for (const name of ["enable", "step-up", "disable", "recovery-codes"]) {
    const spec = commands.find((one) => one.name === name);
    if (spec) addEndpoint(group, spec, run);
  }
};

async function setUp(context: Context, spec: CommandSpec, options: Record<string, unknown>): Promise<number> {
  const { shell } = context;
  const secrets = await readSecrets(context, ["current-password"], options);
  const typed =
    secrets.get("current-password") ??
    (context.interactive ? await prompterOf(shell).secret("Your password") : undefined);
  if (typed !== undefined) shell.secrets.add(typed);
  const client = await context.client();
  const { signal } = shell;
  const made = await client.mfa.setup({ body: typed === undefined ? {} : { currentPassword: typed } }, { signal });
  if (!context.interactive || isForPrograms(context)) {
    await printMinted(context, spec, made);
    await context.notice("Turn it on within ten minutes: rmm auth mfa enable --code-stdin");
    return 0;
  }
  await showSecret(context, made.otpAuthUrl, made.secret);
  const code = (await prompterOf(shell).secret("Code that your app shows")).trim().replaceAll(" ", "");
  shell.secrets.add(code);
  const { recoveryCodes } = await client.mfa.enable({ body: { code } }, { signal });
  await maskSecrets(context, recoveryCodes);
  await writeTo(shell, "stdout", `${recoveryCodes.join("\n")}\n`);
  await context.notice(
    "The second factor is on. Keep these recovery codes: each works once, and they are not shown again",
  );
  return 0;
}

/** On the terminal alone: a QR code for a phone, and the same secret to type. */
async function showSecret({ shell }: Context, url: string, secret: string): Promise<void> {
  const { toString: qrText } = await import("qrcode");
  const picture = await qrText(url, { type: "utf8" });
  const text = `${picture}\nScan this with your authenticator app, or type the secret: ${escapeText(secret)}\n`;
  await new Promise<void>((resolve) => shell.stderr.write(text, () => resolve()));
}
