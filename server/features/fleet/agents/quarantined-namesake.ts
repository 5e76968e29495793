import { fold } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { EnrollCall } from "./enrollment-key.ts";

/** Hostnames compare without case: a quarantined machine cannot come back by spelling its name differently. */
export async function refuseQuarantinedNamesake(call: EnrollCall, tx: Tx, orgId: string): Promise<void> {
  const namesake = await tx
    .selectFrom("devices")
    .select("id")
    .where("orgId", "=", orgId)
    .where("status", "=", "quarantined")
    .where((eb) => eb(fold(eb.ref("hostname")), "=", fold(eb.val(call.body.hostname))))
    .limit(1)
    .executeTakeFirst();
  if (namesake) throw problem("DEVICE_QUARANTINED");
}
