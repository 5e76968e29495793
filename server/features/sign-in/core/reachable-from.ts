import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool } from "kysely";
import type { Database } from "#server/db/tables";

/**
 * What a session may see and end of its person's: everything, or where an identity provider began it, sessions of the
 * provider's own tenant. Otherwise an organization's administrator could follow a guest, and sign them out, everywhere.
 */
export function reachableFrom(sessionId: string) {
  const { or, and, eb, ref } = expressionBuilder<Database & { own: Database["sessions"] }, "own" | "sessions">();
  const sameTenant = and([
    eb("own.memberOrgId", "is not distinct from", ref("sessions.memberOrgId")),
    eb("own.memberPartnerId", "is not distinct from", ref("sessions.memberPartnerId")),
  ]);
  return ({ exists, selectFrom }: ExpressionBuilder<Database, "sessions">): Expression<SqlBool> =>
    exists(
      selectFrom("sessions as own")
        .select("own.id")
        .where("own.id", "=", sessionId)
        .where(or([eb("own.ssoProviderId", "is", null), sameTenant])),
    );
}
