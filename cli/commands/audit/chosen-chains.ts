import type { RmmClient } from "#sdk/client";
import type { Context } from "../../context.ts";
import { namesOf } from "../../generic/names.ts";
import type { ChainName } from "./report.ts";
import type { VerifyOptions } from "./verify-options.ts";

const SYSTEM: ChainName = { kind: "system", id: "00000000-0000-0000-0000-000000000000", name: null };
type Chosen = Pick<VerifyOptions, "partner" | "system" | "anchorFile">;

/** The chains chosen by flags, the default organization or the caller's tenant; with `--all` every accessible chain. */
export async function chosenChains(
  context: Context,
  rmm: RmmClient,
  { partner, system, anchorFile }: Chosen,
): Promise<ChainName[]> {
  const { globals, settings, shell } = context;
  if (globals.all) return everyChain(rmm, anchorFile, shell.signal);
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

/**
 * Chains of every tenant the caller can access, and those named by anchors: of deleted organizations, and chains that
 * were removed completely. In system scope a copy of the anchor file adds more; for others it may name inaccessible chains.
 */
async function everyChain(rmm: RmmClient, anchorFile: string | undefined, signal: AbortSignal): Promise<ChainName[]> {
  const own = await ownChain(rmm, signal);
  const isSystem = own.kind === "system";
  const partners = isSystem ? await listPartners(rmm, signal) : [];
  const orgs = own.kind === "organization" ? [] : await rmm.organizations.listAccessible({}, { signal }).toArray();
  const anchored = await rmm.auditLogs.anchors({ query: { each: true, limit: 100 } }, { signal }).toArray();
  const kept = isSystem && anchorFile !== undefined ? await chainsOfFile(anchorFile) : [];
  const all = [
    own,
    ...partners.map(({ id, name }): ChainName => ({ kind: "partner", id, name })),
    ...orgs.map(({ id, name }): ChainName => ({ kind: "organization", id, name })),
    ...anchored.map(({ chainKind: kind, chainId: id }): ChainName => ({ kind, id, name: null })),
    ...kept.map((chain): ChainName => ({ ...chain, name: null })),
  ];
  const first = new Map<string, ChainName>();
  for (const chain of all) {
    const key = `${chain.kind} ${chain.id}`;
    if (!first.has(key)) first.set(key, chain);
  }
  return [...first.values()];
}

async function chainsOfFile(path: string) {
  const { anchorFileIndex } = await import("#server/audit/anchor-file");
  const file = anchorFileIndex(path);
  await file.refresh();
  return file.chains();
}
