import { shareText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { fieldsLock } from "#server/features/fleet/devices/custom-values";
import { checkedFilter } from "#server/filters/checked-filter";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { bytesOf, customKeysOf, FILTER_BYTES_MAX } from "./rules.ts";

/**
 * Conditions as they are stored, or what is wrong with them. No custom field of the partner is deleted until the
 * transaction ends: which a filter names, and which there are, agrees.
 */
export async function judgeConditions(
  call: Pick<Call, "services">,
  tx: Tx,
  given: unknown,
  { orgId, partnerId }: { orgId: string; partnerId: string },
) {
  await shareText(tx, call.services.store.dialect, fieldsLock(partnerId));
  const conditions = await checkedFilter(tx, given, { orgId });
  const bytes = bytesOf(conditions);
  if (bytes > FILTER_BYTES_MAX)
    throw problem("LIMIT_REACHED", {
      message: `A saved filter has at most ${FILTER_BYTES_MAX} bytes of JSON`,
      details: { limit: "bytes", max: FILTER_BYTES_MAX, current: bytes },
    });
  return { conditions, customKeys: customKeysOf(conditions) };
}
