import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

/** A service principal's key is never given a scope that its principal lacks (docs/credentials.md, "Scopes of an API key"). */
export async function refuseBeyondPrincipal(
  tx: Tx,
  key: { principalId: string | null },
  scopes: readonly string[],
): Promise<void> {
  if (key.principalId === null) return;
  const principal = await tx
    .selectFrom("servicePrincipals")
    .select("scopes")
    .where("id", "=", key.principalId)
    .executeTakeFirst();
  const scope = scopes.find((one) => !principal?.scopes.includes(one));
  if (scope !== undefined) throw problem("SCOPE_DELEGATION_DENIED", { details: { scope } });
}
