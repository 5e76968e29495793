import { type Context, getCredential } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { spellingOf } from "../noun-aliases.ts";

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
  const line = context.globals.line ?? `${spellingOf(spec.noun)} ${spec.name}`;
  throw new CliError(`\`${line}\` needs ${wanted}; ${source} holds ${kindNames[kind]}`, {
    exit: "unauthenticated",
    code: "WRONG_CREDENTIAL",
    details: { accepted: kinds, given: kind },
    hint: hintFor(spec, kind, source),
  });
}

/** A partner key has commands of its own for much of what people and API keys do. */
const ofPartnerKey: Readonly<Record<string, string>> = {
  "organizations create": "create-organization",
  "organizations list": "organizations",
  "organizations list-accessible": "organizations",
  "sites create": "create-site",
  "sites list": "sites",
  "devices list": "devices",
  "enrollment-keys create": "create-enrollment-key",
};

function hintFor({ noun, name, access }: CommandSpec, kind: string, source: string): string | undefined {
  const own = kind === "partnerKey" ? ofPartnerKey[`${noun} ${name}`] : undefined;
  const other = own === undefined ? "" : `With this key: \`rmm partner-api ${own}\`. Or else `;
  if (!access.kinds.includes("user"))
    return own === undefined ? undefined : `With this key: \`rmm partner-api ${own}\``;
  return `${other}${other === "" ? "S" : "s"}ign in with \`rmm auth login\`, and leave out ${source}`;
}
