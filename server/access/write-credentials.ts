import { held } from "#server/db/dialect/locks";
import type { Tx, UnitOfWork } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** What lifting the scope takes of a call. */
export type Writing = Pick<UnitOfWork, "asSystem">;

/**
 * Writes what lets somebody in or says how far, once the caller was seen to reach it. A tenant's own connection may not:
 * what it wrote would outlive it (docs/credentials.md, "Who writes credentials").
 */
export const writeCredentials = <R>(call: Writing, work: (all: Tx) => Promise<R>): Promise<R> =>
  call.asSystem("write credentials", work);

type Held = "apiKeys" | "servicePrincipals" | "partnerServicePrincipals" | "enrollmentKeys" | "webhooks";

/** Holds such a row until the transaction ends; a connection that may not write a row cannot hold it either. */
export const holdCredential = (call: Writing & { readonly services: Services }, table: Held, id: string) =>
  writeCredentials(call, (all) => {
    const row = all
      .selectFrom(table as "apiKeys")
      .select("id")
      .where("id", "=", id);
    return held(row, call.services.store.dialect).execute();
  });
