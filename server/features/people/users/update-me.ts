import type { Endpoint } from "#contract/core/endpoint";
import type { users } from "#contract/resources/people/users";
import { changedFields } from "#server/audit/changed-fields";
import { lockRow } from "#server/db/dialect/locks";
import { updateProfile } from "#server/features/people/core/update-profile";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { getMe } from "./me.ts";
import { mergePreferences } from "./rules.ts";

type UpdateMeCall = typeof users.updateMe extends Endpoint<infer T> ? Call<T> : never;

/** Changes the caller's own profile. Preferences are merged key by key; null removes a key. */
export async function updateMe(call: UpdateMeCall) {
  const { userId } = user(call);
  const { preferences, ...fields } = call.body;
  return call.transaction(async (tx) => {
    await lockRow(tx, call.services.store.dialect, "users", userId);
    const before = await tx
      .selectFrom("users")
      .select(["name", "avatarUrl", "preferences"])
      .where("id", "=", userId)
      .executeTakeFirst();
    if (!before) throw problem("UNAUTHENTICATED");
    const change = {
      ...fields,
      ...(preferences === undefined ? {} : { preferences: mergePreferences(before.preferences, preferences) }),
    };
    await call.asSystem("change own profile", (all) => updateProfile(all, userId, change, call.clock.now()));
    call.audit.note({
      resource: { type: "user", id: userId, name: fields.name ?? before.name },
      details: { changedFields: changedFields(before, change) },
    });
    return getMe(call, tx);
  });
}
