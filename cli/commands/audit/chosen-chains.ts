import type { RmmClient } from "#sdk/client";
import type { Context } from "../../context.ts";
import { namesOf } from "../../generic/names.ts";
import type { ChainName } from "./report.ts";
import type { VerifyOptions } from "./verify-options.ts";

const SYSTEM: ChainName = { kind: "system", id: "00000000-0000-0000-0000-000000000000", name: null };
type Chosen = Pick<VerifyOptions, "partner" | "system">;

/** The chains that flags, the default organization or the caller's own place choose; with `--all` every one in reach. */
export async function chosenChains(
  context: Context,
  rmm: RmmClient,
  { partner, system }: Chosen,
): Promise<ChainName[]> {
  const { globals, settings, shell } = context;
  if (globals.all) return everyChain(rmm, shell.signal);
  if (system) return [SYSTEM];
  if (partner !== undefined) {
    const id = await namesOf(context).partnerId(partner);
    return [{ kind: "partner", id, name: id === partner.toLowerCase() ? null : partner }];
  }
  const org = settings.org.value;
  if (org !== undefined) {
    const names = namesOf(context);
    const id = await names.orgId(org);
    return [{ kind: "organization", id, name: names.known(id)?.name ?? null }];
  }
  return [await ownChain(rmm, shell.signal)];
}

async function ownChain(rmm: RmmClient, signal: AbortSignal): Promise<ChainName> {
  const { scope, partnerId, orgId } = await rmm.users.me({}, { signal });
  if (scope === "system") return SYSTEM;
  if (scope === "partner") return { kind: "partner", id: partnerId as string, name: await ownPartner(rmm, signal) };
  const orgs = await rmm.organizations.listAccessible({}, { signal }).toArray();
  return { kind: "organization", id: orgId as string, name: orgs.find(({ id }) => id === orgId)?.name ?? null };
}

/** The name is for display only: a caller who may not read it goes without. */
const ownPartner = (rmm: RmmClient, signal: AbortSignal): Promise<string | null> =>
  rmm.partners.getMine({}, { signal }).then(
    ({ name }) => name,
    () => null,
  );

const listPartners = (rmm: RmmClient, signal: AbortSignal) =>
  rmm.partners.list({ query: { limit: 100 } }, { signal }).toArray();

async function everyChain(rmm: RmmClient, signal: AbortSignal): Promise<ChainName[]> {
  const own = await ownChain(rmm, signal);
  const partners = own.kind === "system" ? await listPartners(rmm, signal) : [];
  const orgs = own.kind === "organization" ? [] : await rmm.organizations.listAccessible({}, { signal }).toArray();
  return [
    own,
    ...partners.map(({ id, name }): ChainName => ({ kind: "partner", id, name })),
    ...orgs.map(({ id, name }): ChainName => ({ kind: "organization", id, name })),
  ];
}
