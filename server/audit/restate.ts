import { asSystem } from "#server/db/as-system";
import type { Services } from "#server/services";
import { keepStatement } from "./anchor-copies.ts";
import { anchorFileAt, appendLines } from "./anchor-file.ts";
import { auditHandle } from "./handle.ts";
import { pruneSetup } from "./keeper.ts";
import { listChains } from "./list-chains.ts";
import { restateInWorker } from "./retention.ts";
import { type AuditDb, latestStatement } from "./statements.ts";

/**
 * Signs anew, at the first start after the upgrade, the newest prune record of every chain that has only records from
 * before these were signed. Done once for an anchor file, which is marked then: otherwise whoever can write to the
 * database could have a record of their own making signed at the next start.
 */
export async function restateUnsignedPrunes(services: Services): Promise<void> {
  const db = auditHandle(asSystem(services, "write audit chain"));
  if (!(await hasUnrestated(db))) return;
  const setup = pruneSetup(services);
  const file = anchorFileAt(services.config.anchorFile);
  try {
    await file.refresh();
    if (file.isMarked()) throw new Error("the anchor file says that this was done before");
    if (!setup) throw new Error("AUDIT_ADMIN_DATABASE_URL is not set");
    const records = await restateInWorker(setup);
    for (const record of records) await keepStatement(services, record);
    await mark(services);
    services.log.info("audit.prunes_restated", { chains: records.length });
  } catch (error) {
    services.log.error("audit.prunes_not_restated", { error: error as Error });
  }
}

/** Marks a file whose database has nothing left to restate. */
export async function markRestated(services: Services): Promise<void> {
  const file = anchorFileAt(services.config.anchorFile);
  if (file.isMarked() || (await hasUnrestated(auditHandle(asSystem(services, "write audit chain"))))) return;
  await mark(services).catch((error) => services.log.error("audit.anchor_file_unavailable", { error: error as Error }));
}

const mark = (services: Services): Promise<void> =>
  appendLines(services.config.anchorFile, [{ type: "restated", at: services.clock.now() }]);

async function hasUnrestated(db: AuditDb): Promise<boolean> {
  const row = await db
    .selectFrom("auditUnsignedPrunes as u")
    .select("u.chainId")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("auditPrunes as p")
            .select("p.chainId")
            .whereRef("p.chainKind", "=", "u.chainKind")
            .whereRef("p.chainId", "=", "u.chainId"),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const LOOKED_AT = 20;

/** Whether the newest statements of the database, of some chains at least, bear signatures. */
export async function isSigned(services: Services): Promise<boolean> {
  const db = auditHandle(asSystem(services, "write audit chain"));
  let looked = 0;
  for await (const chain of listChains(db)) {
    if ((await latestStatement(db, chain))?.signature) return true;
    looked += 1;
    if (looked === LOOKED_AT) break;
  }
  return false;
}
