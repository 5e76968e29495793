import type { RmmClient } from "#sdk/client";
import type { Context } from "../../context.ts";
import { type Described, describeError } from "../../errors/describe-error.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { exitOfItems } from "../../errors/exit-of-items.ts";
import { type Listing, type OutcomePrinter, outcomePrinter } from "../../generic/outcome-printer.ts";
import { withProgress } from "../../output/spinner.ts";
import { PER_MINUTE } from "../../provisioning/budget.ts";
import type { FieldChange } from "../../provisioning/field-change.ts";
import { stable } from "../../provisioning/fields.ts";
import { inParallel } from "../../provisioning/in-parallel.ts";
import { paced, type Sender } from "../../provisioning/sender.ts";
import type { Chosen } from "./chosen.ts";

/** What became of one device; `planned` is what `--plan` would do. */
export interface ChangeOutcome {
  readonly outcome: "done" | "unchanged" | "failed" | "skipped" | "planned";
  readonly kind: "device";
  readonly key: string;
  readonly changes: readonly FieldChange[];
  readonly item: { readonly line: number | null; readonly name: string | null };
  readonly deviceId: string | null;
  readonly error?: Described["error"];
}

const columns = ["name", "outcome", "line", "changed", "message", "organization", "deviceId"];

export const changeListing: Listing<ChangeOutcome> = {
  fields: ["outcome", "kind", "key", "changes", "item", "deviceId", "error"],
  columns,
  keep: ["name", "outcome"],
  rowOf: ({ outcome, key, item, changes, deviceId, error }) => ({
    name: item.name,
    outcome,
    line: item.line,
    changed: changes.map(({ field }) => field),
    message: error === undefined ? undefined : `${error.code}: ${error.message}`,
    organization: key.includes("/") ? key.slice(0, key.lastIndexOf("/")) : undefined,
    deviceId,
  }),
};

/** One device with what it shall be; parts that are left out stay as they are. */
export interface Wanted {
  readonly device: Chosen;
  readonly line: number | null;
  /** Of `PATCH /devices/:id`. */
  readonly own: Readonly<Record<string, unknown>>;
  /** Custom values by key; null takes one away. */
  readonly custom: Readonly<Record<string, string | number | boolean | null>>;
}

/** What differs from what the server has. */
export function differences({ device, own, custom }: Wanted): FieldChange[] {
  const of = (prefix: string, now: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>) =>
    Object.entries(wanted).flatMap(([name, after]): FieldChange[] => {
      const before = now[name] ?? null;
      return stable([before]) === stable([after ?? null]) ? [] : [{ field: `${prefix}${name}`, before, after }];
    });
  return [...of("", device as never, own), ...of("custom.", device.customFields ?? {}, custom)];
}

export const changeText = (device: Pick<Chosen, "orgName" | "orgId" | "hostname">): string =>
  `${device.orgName ?? device.orgId}/${device.hostname}`;

const about = ({ device, line }: Wanted, changes: readonly FieldChange[]) => ({
  kind: "device" as const,
  key: changeText(device),
  changes,
  item: { line, name: device.hostname },
  deviceId: device.id,
});

/** Sends what differs, own fields before custom values. A PATCH of absolute values may be repeated. */
export async function change(tools: { client: RmmClient; sender: Sender }, wanted: Wanted): Promise<ChangeOutcome> {
  const changes = differences(wanted);
  const told = about(wanted, changes);
  if (changes.length === 0) return { outcome: "unchanged", ...told };
  const changed = (prefix: string) => changes.filter(({ field }) => field.startsWith("custom.") === (prefix !== ""));
  const bodyOf = (prefix: string): Record<string, never> =>
    Object.fromEntries(changed(prefix).map(({ field, after }) => [field.slice(prefix.length), after as never]));
  const { client, sender } = tools;
  const input = { params: { id: wanted.device.id } };
  if (changed("").length > 0)
    await sender.send(() => client.devices.update({ ...input, body: bodyOf("") }), { repeatable: true });
  if (changed("custom.").length > 0)
    await sender.send(() => client.customFields.setValues({ ...input, body: bodyOf("custom.") }), { repeatable: true });
  return { outcome: "done", ...told };
}

export const planned = (wanted: Wanted): ChangeOutcome => {
  const changes = differences(wanted);
  return { outcome: changes.length === 0 ? "unchanged" : "planned", ...about(wanted, changes) };
};

export const failedChange = (wanted: Pick<ChangeOutcome, "key" | "item">, { error }: Described): ChangeOutcome => ({
  ...{ outcome: "failed", kind: "device", changes: [], deviceId: null, ...wanted, error },
});

/** One piece of work for one entry; what it throws is that entry's failure. */
export interface Task {
  readonly about: Pick<ChangeOutcome, "key" | "item">;
  work(tools: { client: RmmClient; sender: Sender }): Promise<ChangeOutcome>;
}

const hopeless: ReadonlySet<Described["exit"]> = new Set(["unauthenticated", "interrupted", "tryLater"]);

/** Carries tasks out, some at once, and prints each. Returns the exit code: 9 where some failed and some did not. */
export async function carryOutChanges(context: Context, tasks: readonly Task[], width: number): Promise<number> {
  const { signal, sleep } = context.shell;
  const client = await context.client();
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  const sender = paced({ perMinute: PER_MINUTE, signal, sleep, onWait });
  const printer: OutcomePrinter<ChangeOutcome> = outcomePrinter(context, changeListing);
  const failures: Described[] = [];
  const outcomes = await withProgress(context, "Devices", ({ say }) =>
    inParallel(
      tasks,
      async ({ about, work }, at) => {
        say(`Devices: ${at + 1} of ${tasks.length}, ${failures.length} failed`);
        const outcome = await attempted(about, work);
        await printer.item(outcome);
        return outcome;
      },
      width,
    ),
  );
  await printer.end(outcomes);
  const count = (outcome: ChangeOutcome["outcome"]) => outcomes.filter((one) => one.outcome === outcome).length;
  const run = { done: tasks.length - count("failed") - count("skipped"), skipped: count("skipped") };
  return exitCode(exitOfItems({ ...run, failed: failures.map(({ exit }) => exit), interrupted: signal.aborted }));

  async function attempted(about: Task["about"], work: Task["work"]): Promise<ChangeOutcome> {
    if (signal.aborted || failures.some(({ exit }) => hopeless.has(exit)))
      return { outcome: "skipped", kind: "device", changes: [], deviceId: null, ...about };
    try {
      return await work({ client, sender });
    } catch (error) {
      const described = describeError(error);
      failures.push(described);
      return failedChange(about, described);
    }
  }
}
