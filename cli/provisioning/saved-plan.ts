import { chmod, stat, writeFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import { CliError, usageError } from "../errors/cli-error.ts";
import { commandToType } from "../errors/commands-to-type.ts";
import type { FieldChange } from "./field-change.ts";
import { stable } from "./fields.ts";
import type { Plan } from "./plan.ts";
import { singleFields } from "./plan-text.ts";
import { type PlanItem, planItems } from "./plan-view.ts";
import { valueText } from "./value-text.ts";

/** Flags that decide what a plan says. */
export interface PlanOptions {
  readonly allowDelete: boolean;
  readonly redeliver: boolean;
  readonly sinkCheck: boolean;
  readonly org?: string;
  readonly partner?: string;
}

/** A plan as a file: what was shown, and all that it takes to work it out again. It holds no secret. */
export interface SavedPlan {
  readonly apiVersion: typeof PLAN_VERSION;
  readonly createdAt: string;
  readonly server: string;
  readonly by: string;
  readonly source: {
    readonly name: string;
    readonly text: string;
    /** Where relative file sinks count from, as seen from the folder of the plan. */
    readonly folder: string;
  };
  readonly options: PlanOptions;
  readonly items: readonly PlanItem[];
}

export const PLAN_VERSION = "rmm/plan-v1";

export interface PlanFacts {
  readonly nowMs: number;
  readonly server: string;
  readonly by: string;
  readonly name: string;
  readonly text: string;
  readonly sinkFolder: string;
  readonly options: PlanOptions;
}

const takenPath = (path: string) =>
  usageError(`${path} exists already`, "Replace it with --yes, or choose another file");

/** Refuses before the long read a path that could not be written at its end. */
export async function requireFree(path: string, { replace }: { replace: boolean }): Promise<void> {
  if (!replace && (await stat(path).catch(() => undefined)) !== undefined) throw takenPath(path);
}

/** Writes a plan for `rmm apply PATH`, only its owner's to read: it names customers and people. */
export async function savePlan(path: string, plan: Plan, facts: PlanFacts, { replace }: { replace: boolean }) {
  const { nowMs, server, by, name, text, sinkFolder, options } = facts;
  const folder = relative(dirname(resolve(path)), resolve(sinkFolder)) || ".";
  const saved: SavedPlan = {
    apiVersion: PLAN_VERSION,
    createdAt: new Date(nowMs).toISOString(),
    server,
    by,
    source: { name, text, folder },
    options,
    items: planItems(plan),
  };
  try {
    await writeFile(path, `${JSON.stringify(saved, null, 2)}\n`, { flag: replace ? "w" : "wx", mode: 0o600 });
    if (replace) await chmod(path, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "EEXIST" ? takenPath(path) : usageError(`--output: cannot write ${path}: ${systemReason(error)}`);
  }
}

/** The saved plan that a text is; undefined for a provisioning file. */
export function readSavedPlan(text: string, name: string): SavedPlan | undefined {
  if (!text.trimStart().startsWith("{") || !text.includes(PLAN_VERSION)) return undefined;
  let read: Partial<SavedPlan> | null;
  try {
    read = JSON.parse(text) as Partial<SavedPlan> | null;
  } catch {
    return undefined;
  }
  if (read?.apiVersion !== PLAN_VERSION) return undefined;
  const { source, options, items, server, by } = read;
  const texts = [server, by, source?.name, source?.text, source?.folder];
  if (texts.every((one) => typeof one === "string") && typeof options === "object" && Array.isArray(items)) {
    return read as SavedPlan;
  }
  throw usageError(`${name} is no whole plan`, "Plan again: `rmm plan <file> -o <path>`");
}

/**
 * Refuses a plan under which something would be done now that it does not say. What is done already, by whomever, is
 * no reason: a run that was killed goes on with the same plan.
 */
export function requireUnmoved(saved: SavedPlan, plan: Plan, path: string): void {
  const known = new Map<string, PlanItem[]>();
  for (const item of saved.items) known.set(placeOf(item), [...(known.get(placeOf(item)) ?? []), item]);
  const moved = planItems(plan).filter((item) => !(known.get(placeOf(item)) ?? []).some((one) => covers(one, item)));
  if (moved.length === 0 && plan.conflicts.length === 0) return;
  const { allowDelete, redeliver, sinkCheck, org, partner } = saved.options;
  const flags = { partner, org, "allow-delete": allowDelete, redeliver, "no-sink-check": !sinkCheck, yes: true };
  const again = commandToType(["plan", saved.source.name, "-o", path], flags, {});
  throw new CliError(`The server has changed since ${path} was made on ${saved.createdAt}`, {
    exit: "conflict",
    code: "PLAN_STALE",
    details: [
      ...moved.map((item) => ({ path: item.key, message: told(item, known.get(placeOf(item))?.[0]) })),
      ...plan.conflicts.map(({ path: place, message }) => ({ path: place, message })),
    ],
    hint: `Nothing was changed. Plan again and look at it: \`${again}\``,
  });
}

const placeOf = ({ kind, key }: PlanItem): string => `${kind} ${key}`;

/** Whether the saved plan says that this is to be done. */
function covers(saved: PlanItem, now: PlanItem): boolean {
  if ((saved.refused === null) !== (now.refused === null)) return false;
  const contained = (isSame: (a: FieldChange, b: FieldChange) => boolean) =>
    now.changes.every((change) => saved.changes.some((one) => one.field === change.field && isSame(one, change)));
  // A run that ended half-way goes on: what was created is brought to the rest, its secret to its place. A value that
  // somebody else gave to an object of this name is not replaced.
  if (saved.action === "create" && (now.action === "update" || now.action === "deliver"))
    return contained(isSameEnd) && now.changes.every((change) => isLeftByCreate(now.kind, change));
  return saved.action === now.action && saved.id === now.id && contained(isSameChange);
}

/** A field that a create leaves empty, or sets afterwards (`order.ts`). */
const isLeftByCreate = (kind: string, { field, before }: FieldChange): boolean =>
  field === "sink" || (kind === "organization" && field === "status" && before === "active") || isEmpty(before);

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || stable(value) === "[]" || stable(value) === "{}";

/** Sinks are where this run has them. */
const isSameEnd = (a: FieldChange, b: FieldChange): boolean =>
  a.field === "sink" || stable(a.after) === stable(b.after);
const isSameChange = (a: FieldChange, b: FieldChange): boolean =>
  isSameEnd(a, b) && stable(a.before) === stable(b.before);

function told(now: PlanItem, saved: PlanItem | undefined): string {
  const word = `${now.action} ${now.kind}`;
  if (saved === undefined) return `${word}: the plan does not say it`;
  if (saved.action !== now.action) return `${word}: the plan says ${saved.action}`;
  const fields = now.changes
    .filter((change) => !saved.changes.some((one) => one.field === change.field && isSameChange(one, change)))
    .flatMap(singleFields);
  return fields.length === 0
    ? `${word}: it is another object than the plan means`
    : `${word}: ${fields.map(({ field, before }) => `${field} is ${valueText(before)} now`).join(", ")}`;
}
