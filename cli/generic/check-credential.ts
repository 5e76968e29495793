import { type Context, getCredential } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";

const kindNames = {
  user: "a signed-in user",
  apiKey: "an API key (svc_…)",
  partnerKey: "a partner key (svc_sp_…)",
  agent: "a device token",
  public: "no credential",
} as const;

/** Fails before the server would refuse, and says which credential would work. */
export async function checkCredential(context: Context, spec: CommandSpec): Promise<void> {
  const { kinds } = spec.access;
  if (kinds.includes("public") || (context.globals.dryRun && !(await context.credential()))) return;
  const { kind, source } = await getCredential(context);
  if (kinds.includes(kind)) return;
  const wanted = kinds.map((one) => kindNames[one]).join(" or ");
  throw new CliError(`\`${spec.noun} ${spec.name}\` needs ${wanted}; ${source} holds ${kindNames[kind]}`, {
    exit: "unauthenticated",
    code: "WRONG_CREDENTIAL",
    details: { accepted: kinds, given: kind },
    hint: kinds.includes("user") ? `Sign in with \`rmm auth login\`, and leave out ${source}` : undefined,
  });
}
