import type { RmmClient } from "#sdk/client";
import { ForbiddenError } from "#sdk/errors";
import type { Page } from "#sdk/paginate";
import { CliError } from "../../errors/cli-error.ts";
import type { Read } from "../read-all.ts";
import type { Sendable } from "../sender.ts";

type Row<Verb extends "organizations" | "sites"> = RmmClient["partnerApi"][Verb] extends (
  ...args: never[]
) => PromiseLike<Page<infer I, unknown>>
  ? There<I>
  : never;

/** Only a walk from a moment on tells of rows that went away. */
interface RemovedRow {
  readonly removed: true;
}

type There<I> = Exclude<I, RemovedRow>;
const isThere = <I extends object>(row: I): row is There<I> => !("removed" in row);

export type ExportedOrganization = Row<"organizations">;
export type ExportedSite = Row<"sites">;

/** What a partner key sees of the server: neither contacts nor enrollment keys, nor what is closed or out of reach. */
export interface ExportedState {
  readonly organizations: ReadonlyMap<string, ExportedOrganization>;
  readonly sites: readonly ExportedSite[];
  /** Organizations of which rows were withheld, because a text in them looks like a secret. */
  readonly withheld: { readonly organizations: boolean; readonly sitesOf: ReadonlySet<string> };
}

const PAGE = 500;

/** Reads both exports to their ends. */
export async function readExports(rmm: RmmClient, read: Read): Promise<ExportedState> {
  const organizations = await walk("organizations:read", read, (options) =>
    rmm.partnerApi.organizations({ query: { limit: PAGE } }, options),
  );
  const sites = await walk("sites:read", read, (options) => rmm.partnerApi.sites({ query: { limit: PAGE } }, options));
  return {
    organizations: new Map(organizations.rows.map((one) => [one.slug, one])),
    sites: sites.rows,
    withheld: {
      organizations: organizations.blocked.length > 0,
      sitesOf: new Set(sites.blocked.map(({ orgId }) => orgId)),
    },
  };
}

interface Blocked {
  readonly orgId: string;
}

async function walk<I extends object>(
  scope: string,
  read: Read,
  start: Sendable<Page<I, { blocked?: readonly Blocked[] }>>,
): Promise<{ rows: There<I>[]; blocked: Blocked[] }> {
  const rows: There<I>[] = [];
  const blocked: Blocked[] = [];
  let page: Page<I, { blocked?: readonly Blocked[] }> | undefined = await read(start).catch((error: unknown) => {
    throw error instanceof ForbiddenError && error.code === "API_KEY_SCOPE_REQUIRED" ? lacking([scope]) : error;
  });
  while (page !== undefined) {
    rows.push(...page.items.filter(isThere<I>));
    blocked.push(...(page.raw.blocked ?? []));
    const current: typeof page = page;
    page = current.hasNext ? await read(() => current.next()) : undefined;
  }
  return { rows, blocked };
}

/** What to grant to the key's principal before this can be done. */
export const lacking = (scopes: readonly string[]): CliError =>
  new CliError(`The partner key lacks ${scopes.join(" and ")}`, {
    exit: "forbidden",
    code: "API_KEY_SCOPE_REQUIRED",
    details: scopes.map((path) => ({ path, message: "is not among the scopes of its principal" })),
    hint:
      `Nothing was changed. A user grants them, beside those it has, to the principal of this key: ` +
      `\`rmm partner-service-principals update <principal> --scopes ${scopes.join(",")}\``,
  });
