import { cpus } from "node:os";
import { agents } from "./bench/agents.ts";
import { appendBesideVerify } from "./bench/append-beside-verify.ts";
import { auditAppend } from "./bench/audit-append.ts";
import { auditExport } from "./bench/audit-export.ts";
import { auditVerify } from "./bench/audit-verify.ts";
import { authenticatedRead } from "./bench/authenticated-read.ts";
import type { Bench } from "./bench/bench.ts";
import { coldBuild } from "./bench/cold-build.ts";
import { commandStart } from "./bench/command-start.ts";
import { elevations } from "./bench/elevations.ts";
import { eventMutation } from "./bench/event-mutation.ts";
import { filters } from "./bench/filters.ts";
import { groupSweep } from "./bench/group-sweep.ts";
import type { FleetDatabase } from "./bench/large-fleet.ts";
import { listsLarge } from "./bench/lists-large.ts";
import { logIngest } from "./bench/log-ingest.ts";
import { rateLimitCheck } from "./bench/rate-limit-check.ts";
import { search } from "./bench/search.ts";
import { serverStart } from "./bench/server-start.ts";
import { webhookDelays } from "./bench/webhook-delays.ts";
import { webhookDeliveries } from "./bench/webhook-deliveries.ts";

const ROUNDS = 3;
const benches: readonly Bench[] = [
  ...commandStart,
  ...authenticatedRead,
  ...listsLarge,
  ...onLargeFleet("SQLite"),
  ...onLargeFleet("Postgres"),
  ...groupSweep,
  ...agents,
  ...elevations,
  ...serverStart,
  ...rateLimitCheck,
  ...eventMutation,
  ...auditAppend,
  ...appendBesideVerify,
  ...auditVerify,
  ...auditExport,
  ...logIngest,
  ...webhookDeliveries,
  ...webhookDelays,
  coldBuild,
];
const parts = process.argv.slice(2);
const wanted = benches.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));

process.stdout.write(
  `${cpus()[0]?.model ?? "unknown CPU"}, ${cpus().length} cores, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n\n`,
);
process.stdout.write("| figure | ratio | limit | medians |\n|---|---|---|---|\n");
let missed = 0;
for (const [index, bench] of wanted.entries()) {
  if (bench.on !== wanted[index - 1]?.on) await bench.on?.start();
  await bench.start?.();
  try {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await bench.run());
    const ratio = median(rounds.map(({ measured, against }) => measured / against));
    const { kind, value } = bench.limit;
    const held = kind === "max" ? ratio <= value : ratio >= value;
    if (!held) missed += 1;
    const both = `${round(median(rounds.map((item) => item.measured)))} ÷ ${round(median(rounds.map((item) => item.against)))} ${rounds[0]?.unit}`;
    process.stdout.write(
      `| ${bench.name} | ${ratio.toFixed(2)}${held ? "" : " (missed)"} | ${kind === "max" ? "≤" : "≥"} ${value} | ${both} |\n`,
    );
  } finally {
    await bench.stop?.();
    if (bench.on !== wanted[index + 1]?.on) await bench.on?.stop();
  }
}
process.exitCode = missed === 0 ? 0 : 1;

/** These share one fleet, which takes minutes to make. */
function onLargeFleet(database: FleetDatabase): readonly Bench[] {
  return [...filters(database), search(database)];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toString() : value.toFixed(1);
}
