import type { z } from "zod";
import type { ThreatReport } from "#contract/resources/security/threats";
import { chunks } from "#server/db/chunks";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";
import { mergeThreats, type StoredThreat, statusOf, type ThreatFacts } from "./rules.ts";

export interface NewThreat extends ThreatFacts {
  readonly id: string;
  readonly status: ReturnType<typeof statusOf>;
}

interface Found {
  readonly threats: readonly z.output<ReturnType<typeof ThreatReport>>[];
  readonly providerId: string | null;
}

/**
 * Stores what a report says of threats; what it leaves out stays as it is. Under the lock of the device's row. Answers
 * those that are new, and how many are active or allowed (docs/security.md, "Threats").
 */
export async function storeThreats(
  tx: Tx,
  { clock, random }: Pick<Services, "clock" | "random">,
  device: { id: string; orgId: string },
  { threats, providerId }: Found,
): Promise<{ added: NewThreat[]; inEffect: number }> {
  const stored = await storedThreats(tx, device);
  const { added, changed, dropped, inEffect } = mergeThreats(
    stored,
    threats.map(({ path, status: rawStatus, ...threat }) => ({
      ...threat,
      rawStatus,
      externalId: threat.externalId ?? null,
      category: threat.category ?? null,
      filePath: path ?? null,
      providerId,
    })),
  );
  const now = clock.now();
  for (const ids of chunks(dropped)) await tx.deleteFrom("deviceThreats").where("id", "in", ids).execute();
  for (const { before, after } of changed.toSorted(removedFirst)) await update(tx, { before, after, now });
  const rows = added.map((threat) => ({ ...threat, id: random.uuid(), status: statusOf(threat) }));
  for (const some of chunks(rows)) {
    const made = { orgId: device.orgId, deviceId: device.id, createdAt: now, updatedAt: now };
    await tx
      .insertInto("deviceThreats")
      .values(some.map((row) => ({ ...row, ...made, removedAt: row.rawStatus === "removed" ? now : null })))
      .execute();
  }
  return { added: rows, inEffect };
}

const storedThreats = (tx: Tx, device: { id: string; orgId: string }): Promise<StoredThreat[]> =>
  tx
    .selectFrom("deviceThreats")
    .select(["id", "externalId", "providerId", "name", "category", "severity", "rawStatus", "filePath", "detectedAt"])
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .orderBy("detectedAt")
    .orderBy("id")
    .execute();

type Change = { readonly before: StoredThreat; readonly after: StoredThreat };

/** What ends makes room for what is open again under the same name and path. */
const removedFirst = (a: Change, b: Change): number =>
  Number(statusOf(b.after) === "removed") - Number(statusOf(a.after) === "removed");

async function update(tx: Tx, { before, after, now }: Change & { readonly now: string }): Promise<void> {
  const { externalId, providerId, category, severity, rawStatus, detectedAt } = after;
  const removal = rawStatus === before.rawStatus ? {} : { removedAt: rawStatus === "removed" ? now : null };
  await tx
    .updateTable("deviceThreats")
    .set({ externalId, providerId, category, severity, rawStatus, detectedAt })
    .set({ status: statusOf(after), ...removal, updatedAt: now })
    .where("id", "=", after.id)
    .execute();
}
