import type { Selectable } from "kysely";
import type { Json } from "#server/db/column-types";
import { word } from "#server/db/dialect/text";
import type { ToolExecutionsTable } from "#server/db/tables/tool-executions";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";
import { CLAIM_MS, leadingTo } from "./rules.ts";

type Moments = Pick<Services, "clock">;
type Row = Selectable<ToolExecutionsTable>;

export type NewExecution = Pick<Row, "id" | "orgId" | "elevationRequestId" | "apiKeyId"> & {
  readonly status: "pending" | "approved" | "rejected";
};

/** Stands beside its request from the moment that it is made. Needs an unscoped transaction, as everything here. */
export async function insertExecution(tx: Tx, { clock }: Moments, row: NewExecution): Promise<void> {
  const now = clock.now();
  await tx
    .insertInto("toolExecutions")
    .values({ ...row, claimedUntil: null, outcome: null, createdAt: now, updatedAt: now })
    .execute();
}

/**
 * Has the call of a request follow what became of it, in the transaction of that, which holds the request. False where the
 * call is not where it could: it runs already, or has ended.
 */
export const followRequest = (
  tx: Tx,
  services: Moments,
  { id, orgId }: { readonly id: string; readonly orgId: string },
  to: "approved" | "rejected" | "expired",
): Promise<boolean> =>
  changed(
    tx
      .updateTable("toolExecutions")
      .set({ status: to, updatedAt: services.clock.now() })
      .where("elevationRequestId", "=", id)
      .where("orgId", "=", orgId)
      .where("status", "in", leadingTo(to)),
  );

/**
 * Takes a call on to run it, once: only while its request, which this transaction holds, is approved and its window open,
 * whatever was read before.
 */
export const claimExecution = (tx: Tx, { clock }: Moments, id: string): Promise<boolean> => {
  const now = clock.now();
  return changed(
    tx
      .updateTable("toolExecutions")
      .set({ status: "executing", claimedUntil: after(now, CLAIM_MS), updatedAt: now })
      .where("id", "=", id)
      .where("status", "in", leadingTo("executing"))
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom("elevationRequests")
            .select("elevationRequests.id")
            .whereRef("elevationRequests.id", "=", "toolExecutions.elevationRequestId")
            .where("elevationRequests.flowType", "=", word("ai_tool_action"))
            .where("elevationRequests.status", "in", [word("approved"), word("auto_approved")])
            .where("elevationRequests.expiresAt", ">", now),
        ),
      ),
  );
};

/** Ends a call that runs. False: it was given up meanwhile. */
export const finishExecution = (
  tx: Tx,
  { clock }: Moments,
  { id, status, outcome }: { id: string; status: "completed" | "failed"; outcome: Json },
): Promise<boolean> =>
  changed(
    tx
      .updateTable("toolExecutions")
      .set({ status, outcome, claimedUntil: null, updatedAt: clock.now() })
      .where("id", "=", id)
      .where("status", "in", leadingTo(status)),
  );

async function changed(update: { executeTakeFirst(): Promise<{ numUpdatedRows: bigint }> }): Promise<boolean> {
  return (await update.executeTakeFirst()).numUpdatedRows === 1n;
}

/** A call with what was decided on. */
export const executions = (db: Reader) =>
  db
    .selectFrom("toolExecutions")
    .innerJoin("elevationRequests", (join) =>
      join
        .onRef("elevationRequests.orgId", "=", "toolExecutions.orgId")
        .onRef("elevationRequests.id", "=", "toolExecutions.elevationRequestId"),
    )
    .select(["toolExecutions.id", "toolExecutions.orgId", "toolExecutions.elevationRequestId"])
    .select(["toolExecutions.apiKeyId", "toolExecutions.status", "toolExecutions.outcome"])
    .select(["toolExecutions.createdAt", "toolExecutions.updatedAt"])
    .select(["elevationRequests.toolName", "elevationRequests.toolInput", "elevationRequests.toolTargets"])
    .select(["elevationRequests.actionDigest", "elevationRequests.riskTier", "elevationRequests.deviceId"]);

export type Execution = Awaited<ReturnType<ReturnType<typeof executions>["executeTakeFirstOrThrow"]>>;
