import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** Holds or writes keys that the caller was seen to reach; a tenant's own connection may not (docs/credentials.md, "API keys"). */
export const writeKeys = <R>(call: Call, work: (all: Tx) => Promise<R>): Promise<R> =>
  call.asSystem("write API keys", work);
