import { isSourceCidr } from "#server/access/source-address";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { decideOrgAccess } from "./rules.ts";

export function refusePast(call: Pick<Call, "clock">, expiresAt: string | null | undefined): void {
  if (expiresAt && expiresAt <= call.clock.now()) {
    throw invalid({ path: "expiresAt", message: "expiresAt: must be in the future" });
  }
}

/** Once each, in the order given. */
export function readableCidrs(cidrs: readonly string[]): string[] {
  const bad = cidrs.findIndex((item) => !isSourceCidr(item));
  if (bad < 0) return [...new Set(cidrs)];
  const path = `sourceCidrs[${bad}]`;
  throw invalid({ path, message: `${path}: must be an IPv4 or IPv6 address or network` });
}

/** The organizations a principal is confined to, all of them its partner's. */
export async function chosenOrgs(
  tx: Tx,
  partnerId: string,
  orgAccess: "all" | "selected",
  orgIds: readonly string[],
): Promise<string[]> {
  const refused = decideOrgAccess(orgAccess, orgIds);
  if (refused) throw problem(refused);
  const wanted = [...new Set(orgIds)];
  if (wanted.length === 0) return [];
  const found = await tx
    .selectFrom("organizations")
    .select("id")
    .where("partnerId", "=", partnerId)
    .where("id", "in", wanted)
    .execute();
  if (found.length !== wanted.length) throw problem("ORG_NOT_IN_PARTNER");
  return wanted;
}
