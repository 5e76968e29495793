import type { ChainRef } from "#server/audit/chain";
import type { RoomHooks } from "#server/room-hooks";
import { closeIncident, trackIncident } from "./track.ts";

const titles = {
  organization: "The audit record does not hold",
  partner: "The partner's audit record does not hold",
  system: "The installation's audit record does not hold",
} as const;

const subjectOf = ({ kind, id }: ChainRef) => ({ sourceType: "audit_chain", sourceRef: `${kind} ${id}` }) as const;

/** A chain that does not hold is an incident of its owner until it holds again (docs/audit.md, "Verification"). */
export const hooks: RoomHooks = {
  onChainBroken: ({ tx, services, chain }) =>
    trackIncident(tx, services, {
      ...subjectOf(chain),
      ...{ title: titles[chain.kind], severity: "p1", classification: "audit_integrity" },
      ...(chain.kind === "organization" ? { orgId: chain.id } : {}),
      ...(chain.kind === "partner" ? { partnerId: chain.id } : {}),
    }),
  onChainHolds: ({ tx, now, chain }) => closeIncident(tx, now, subjectOf(chain)),
};
