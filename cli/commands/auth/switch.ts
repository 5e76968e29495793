import { clientOf } from "../../client.ts";
import { type Context, openContext } from "../../context.ts";
import { CliError } from "../../errors/cli-error.ts";
import { storedCredential } from "../../profile/credential.ts";
import type { Register } from "../../register.ts";
import { keepSignIn } from "../../sign-in/keep-sign-in.ts";
import { reportSignIn } from "../../sign-in/report-sign-in.ts";
import { calling, takes, valued } from "../../taken-flags.ts";

/** `rmm auth switch`: replaces the stored session by one in another tenant. */
export const registerSwitch: Register = (command, run) => {
  takes(command, ...valued, ...calling);
  command
    .description(
      "Switch to another of your memberships: rmm auth memberships lists them. Your next sign-in takes it too",
    )
    .argument("<tenant>", "name or id of the tenant, or the membership's id")
    .addHelpText("before", 'Examples:\n  rmm auth switch "Harbor Dental"\n')
    .action((tenant: string) => run(async (shell, globals) => switchTo(await openContext(shell, globals), tenant)));
};

async function switchTo(context: Context, tenant: string): Promise<number> {
  const { shell, settings } = context;
  const signIn = settings.stored.signIns[settings.server.value];
  if (signIn === undefined) {
    throw new CliError(`Not signed in to ${settings.server.value}`, {
      exit: "unauthenticated",
      code: "NOT_SIGNED_IN",
      hint: "Run `rmm auth login`",
    });
  }
  const { signal } = shell;
  // What is switched is the stored session, also where RMM_TOKEN goes before it.
  const client = clientOf(context, storedCredential(shell, settings));
  const { items } = await client.memberships.list({}, { signal });
  const found = items.filter(({ id, tenantId, tenantName }) => [id, tenantId, tenantName].includes(tenant));
  const [chosen] = found;
  if (chosen === undefined || found.length > 1) {
    throw new CliError(
      found.length > 1 ? `More than one tenant is called ${tenant}` : `You do not belong to ${tenant}`,
      {
        exit: "notFound",
        code: "NOT_FOUND",
        hint: "Run `rmm auth memberships`, and give its id",
      },
    );
  }
  const tokens = await client.memberships.select({ params: { id: chosen.id } }, { signal });
  await keepSignIn(context, { ...signIn, tokens });
  return reportSignIn(context, signIn, { scope: chosen.kind });
}
