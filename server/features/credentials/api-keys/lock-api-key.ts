import { held } from "#server/db/dialect/locks";
import type { Call } from "#server/http/call";
import { writeKeys } from "./write-keys.ts";

/** Holds a key that the caller was seen to reach until the transaction ends. */
export const lockApiKey = (call: Call, id: string) =>
  writeKeys(call, (all) =>
    held(all.selectFrom("apiKeys").select("id").where("id", "=", id), call.services.store.dialect).execute(),
  );
