import type { Command } from "commander";
import { passwordRule } from "#contract/core/password-rule";
import { type Context, openContext } from "../../context.ts";
import { CliError, missingInput, usageError } from "../../errors/cli-error.ts";
import { readSecrets } from "../../generic/secret-flags.ts";
import { isForPrograms, printResult } from "../../output/print.ts";
import { prompterOf } from "../../prompt.ts";
import type { Run } from "../../register.ts";
import { writeTo } from "../../shell.ts";
import { takes, valued } from "../../taken-flags.ts";
import { addPlaceFlags, type PlaceOptions, serverConfig } from "./server-config.ts";

interface Options extends PlaceOptions {
  email?: string;
  name: string;
  ifNotExists?: boolean;
  [flag: string]: unknown;
}

/** `rmm server create-admin`: a System Admin, straight in the database. */
export function registerCreateAdmin(group: Command, run: Run): void {
  const command = group.command("create-admin").summary("Create a system administrator");
  takes(command, ...valued);
  addPlaceFlags(command)
    .description("Create a system administrator directly in the database. The server need not be running")
    .option("--email <email>", "email address to sign in with")
    .option("--name <name>", "name", "System Administrator")
    .option("--password-file <path>", `read the password from a file: ${passwordRule}`)
    .option("--password-stdin", "read the password from stdin")
    .option("--if-not-exists", "leave alone an active system administrator of this address, password and all")
    .addHelpText(
      "before",
      "Examples:\n  rmm server create-admin --email ana@contoso.example\n  rmm server create-admin --email ana@contoso.example --password-file p.txt --if-not-exists\n",
    )
    .action(() =>
      run(async (shell, globals) =>
        createAdmin(await openContext(shell, globals, { mayBeNew: true }), command.opts<Options>()),
      ),
    );
}

async function createAdmin(context: Context, options: Options): Promise<number> {
  const { shell } = context;
  const { email, password } = await admin(context, options);
  const { buildServices } = await import("#server/app");
  const { bootstrap, createSystemAdmin, findSystemAdmin } = await import("#server/bootstrap");
  const config = await serverConfig(shell, options);
  const services = buildServices({ ...config, logLevel: "silent" });
  try {
    await services.store.migrate();
    await bootstrap(services);
    const { name, ifNotExists = false } = options;
    const admin = { email, password, name, onlyFirst: false };
    const made = await createSystemAdmin(services, admin).catch(async (error: unknown) => {
      if (!(error instanceof Error) || !unique.test(error.message)) throw error;
      const there = ifNotExists ? await findSystemAdmin(services, email) : undefined;
      return there ?? taken(email, ifNotExists);
    });
    const result =
      typeof made === "object" ? { ...made, outcome: "exists" } : { id: made, email, name, outcome: "done" };
    if (isForPrograms(context)) await printResult(context, result, { fields: Object.keys(result) });
    else await writeTo(shell, "stdout", `${result.id}\n`);
    const what = result.outcome === "done" ? "Created" : "There already:";
    await context.notice(`${what} ${email}. Sign in with \`rmm auth login --email ${email}\``);
  } finally {
    await services.store.close();
  }
  return 0;
}

async function admin(context: Context, options: Options): Promise<{ email: string; password: string }> {
  const secrets = await readSecrets(context, ["password"], options);
  const missing = [
    ...(options.email === undefined ? ["--email"] : []),
    ...(secrets.has("password") ? [] : ["--password-file or --password-stdin"]),
  ];
  if (missing.length > 0 && !context.interactive) throw missingInput(missing);
  const prompter = prompterOf(context.shell);
  const email = (options.email ?? (await prompter.text("Email"))).trim().toLowerCase();
  const { email: emailSchema } = await import("#contract/core/fields");
  if (!emailSchema().safeParse(email).success) throw usageError("--email is not an email address");
  const typed = secrets.get("password");
  if (typed !== undefined) return { email, password: await strong(typed) };
  await context.notice(`The password takes ${passwordRule}`);
  const password = await prompter.secret("Password");
  context.shell.secrets.add(password);
  await strong(password);
  if ((await prompter.secret("Password again")) !== password) throw usageError("The passwords differ");
  return { email, password };
}

/** A weak password is refused before it is typed again. */
async function strong(password: string): Promise<string> {
  const { passwordProblem } = await import("#server/bootstrap");
  const weak = passwordProblem(password);
  if (weak !== undefined) throw usageError(`The password ${weak}`, `It takes ${passwordRule}`);
  return password;
}

const unique = /unique|duplicate/i;

function taken(email: string, ifNotExists: boolean): never {
  const whose = ifNotExists ? "somebody who is no active system administrator" : undefined;
  throw new CliError(`${email} is taken${whose === undefined ? "" : ` by ${whose}`}`, {
    exit: "conflict",
    code: "USER_EXISTS",
    hint: whose === undefined ? "--if-not-exists leaves alone an administrator who is there" : undefined,
  });
}
