import type { Endpoint } from "#contract/core/endpoint";
import type { contacts } from "#contract/resources/tenancy/contacts";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getWritableContact } from "./update.ts";

type RemoveCall = typeof contacts.remove extends Endpoint<infer T> ? Call<T> : never;

/** Hard delete; no other contact becomes primary. */
export async function removeContact(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const contact = await getWritableContact(call, tx, call.params.contactId);
    const removed = await tx.deleteFrom("contacts").where("id", "=", contact.id).executeTakeFirst();
    if (removed.numDeletedRows !== 1n) throw problem("NOT_FOUND");
    call.audit.note({ details: { siteId: contact.siteId, isPrimary: contact.isPrimary } });
    return { success: true as const };
  });
}
