import { postgresChainSource } from "#server/audit/postgres-source";
import { sqliteChainSource } from "#server/audit/sqlite-source";
import { verifyChain } from "#server/audit/verify";
import { openSqliteFile } from "#server/db/dialect/sqlite-library";
import { auditOrg } from "./audit-rows.ts";

/** Child of the bench: verifies one chain in a process of its own, so that its peak memory is its own too. */
const place = process.argv[2] as string;
const chain = { kind: "organization", id: auditOrg(1) } as const;
const source = place.startsWith("postgres:")
  ? await postgresChainSource(place, chain)
  : sqliteChainSource(openSqliteFile(place, { readonly: true }), chain);
const started = performance.now();
const { ok, entriesChecked } = await verifyChain(source);
const ms = performance.now() - started;
await source.close();
process.stdout.write(
  JSON.stringify({ ok, rate: (entriesChecked / ms) * 1_000, peakMb: process.resourceUsage().maxRSS / 1_024 }),
);
process.exit(0);
