import type { AuditAction } from "#contract/core/generated/audit-actions";
import { partnerPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** What a write answers, as far as it is recorded. */
interface Made {
  readonly data: { readonly id: string; readonly name: string };
}

/** Lets a write that is answered from memory leave an entry too (docs/credentials.md, "Partner writes"). */
export const recordedWhenReplayed = <C extends Call, R extends Made>(write: (call: C) => Promise<R>, type: string) =>
  Object.assign((call: C) => write(call), {
    replayed: (call: C, { data: { id, name } }: Made) => call.audit.note({ resource: { type, id, name } }),
  });

interface Written {
  resource: string;
  action: AuditAction;
  orgId: string;
  id: string;
  name: string;
  /** Sites that it belongs to (`AuditNote`). */
  siteIds?: readonly (string | null)[];
  details: Record<string, unknown>;
}

/**
 * Runs a write and records it twice in the same transaction: in the partner's chain as a call of the partner API, in
 * the organization's chain as the plain action, both by the key and naming its principal
 * (docs/credentials.md, "Partner writes").
 */
export async function recordedWrite<R>(
  call: Call,
  resource: string,
  work: (tx: Tx) => Promise<{ answer: R; written: Omit<Written, "resource"> }>,
): Promise<R> {
  const startedMs = call.clock.nowMs();
  call.audit.note({ details: { resource } });
  return call.transaction(async (tx) => {
    const { answer, written } = await work(tx);
    const { id, name, orgId, action, siteIds } = written;
    const durationMs = call.clock.nowMs() - startedMs;
    call.audit.note({
      resource: { type: action.slice(0, action.indexOf(".")), id, name },
      details: { recordCount: 1, httpStatus: 201, durationMs },
    });
    const { principalId } = partnerPrincipal(call);
    const details = { ...written.details, partnerServicePrincipalId: principalId };
    call.audit.also({ action, resource: { id, name }, owner: { orgId }, ...(siteIds && { siteIds }), details });
    return answer;
  });
}
