import { RmmError } from "#sdk/errors";
import type { Context } from "../context.ts";
import { CliError, usageError } from "../errors/cli-error.ts";
import { isId, namesOf } from "../generic/names.ts";

export interface WhoseProvider {
  email?: string | undefined;
  partner?: string | undefined;
}

/**
 * Path of the server that starts the sign-in: of the email address's domain, of an organization, of a partner, else of
 * the server's only partner. The organization of a profile or of RMM_ORG says where the user works, not who they are:
 * only `--org` counts.
 */
export async function findLoginPath(context: Context, { email, partner }: WhoseProvider): Promise<string> {
  const org = context.globals.org === "" ? undefined : context.globals.org;
  const given = [email, org, partner].filter((one) => one !== undefined);
  if (given.length > 1) throw usageError("Use one of --email, --org and --partner");
  const path = await pathOf(context, { email, org, partner });
  // The address is opened in a browser, so only a sign-in path of this server is accepted.
  if (/^\/api\/v1\/sso\/login\/(partner\/)?[\w-]{1,64}$/.test(path)) return path;
  throw new CliError("The server returned an address that does not start a sign-in", {
    exit: "failure",
    code: "SSO_ADDRESS",
  });
}

async function pathOf(context: Context, { email, org, partner }: WhoseProvider & { org?: string | undefined }) {
  if (email !== undefined) return pathOfEmail(context, email.trim().toLowerCase());
  if (org !== undefined) return pathOfOrg(context, await idOf(context, "--org", org, (names) => names.orgId(org)));
  if (partner === undefined) return pathOfServer(context);
  const id = await idOf(context, "--partner", partner, (names) => names.partnerId(partner));
  return `/api/v1/sso/login/partner/${id}`;
}

async function pathOfEmail(context: Context, email: string): Promise<string> {
  const client = await context.client("none");
  const { sso } = await client.ssoLogins.discover({ body: { email } }, { signal: context.shell.signal });
  if (sso) return sso.loginUrl;
  throw noSso("No organization signs in people of this email domain through an identity provider");
}

async function pathOfOrg(context: Context, orgId: string): Promise<string> {
  const client = await context.client("none");
  const check = await client.ssoLogins.check({ params: { orgId } }, { signal: context.shell.signal });
  if (check.ssoEnabled && check.provider.type === "oidc") return check.loginUrl;
  throw noSso(
    check.ssoEnabled
      ? "This organization's identity provider uses SAML, which cannot be used to sign in yet"
      : "This organization has no active identity provider",
  );
}

async function pathOfServer(context: Context): Promise<string> {
  const client = await context.client("none");
  const { partnerSso } = await client.ssoLogins.context({}, { signal: context.shell.signal });
  if (partnerSso) return partnerSso.loginUrl;
  throw usageError(
    "Say whose identity provider signs you in: --email, --org or --partner",
    "This server has no sign-in of its own: it has several partners, or its partner has no identity provider",
  );
}

const noSso = (message: string): CliError =>
  new CliError(message, {
    exit: "notFound",
    code: "NO_SSO",
    hint: "Ask your administrator for the id of your organization or partner, or sign in with your password",
  });

/** Names can be resolved only by a signed-in user. */
async function idOf(
  context: Context,
  flag: string,
  given: string,
  find: (names: ReturnType<typeof namesOf>) => Promise<string>,
): Promise<string> {
  if (isId(given)) return given.toLowerCase();
  const signedIn = (await context.credential()) !== undefined;
  try {
    if (signedIn) return await find(namesOf(context));
  } catch (error) {
    if (!(error instanceof RmmError) || error.status === undefined) throw error;
  }
  throw usageError(
    `${flag} needs an id here: the server tells names only to people who are signed in`,
    "The id is in the address of your organization's sign-in; or give --email, whose domain says where you sign in",
  );
}
