import { styled } from "../output/colour.ts";
import { escapeControls } from "../output/escape.ts";
import type { Budget } from "./budget.ts";
import { type FieldChange, type ObjectKind, type Plan, type Step, shownSteps } from "./plan.ts";

export interface PlanView {
  readonly partnerId: string | null;
  readonly summary: Readonly<Record<"create" | "update" | "delete" | "deliver" | "unchanged" | "notes", number>>;
  readonly budget: Budget;
  readonly items: readonly {
    readonly action: Step["action"];
    readonly kind: ObjectKind;
    readonly organization: string;
    readonly name: string;
    readonly id: string | null;
    readonly line: number | null;
    readonly changes: readonly FieldChange[];
  }[];
  readonly notes: readonly {
    readonly organization: string;
    readonly kind: ObjectKind;
    readonly name: string;
    readonly message: string;
    readonly command: string | null;
  }[];
}

/** The plan as `--json` prints it. */
export function planView(plan: Plan, budget: Budget): PlanView {
  const steps = shownSteps(plan);
  const notes = plan.organizations.flatMap((one) => one.notes);
  const count = (action: Step["action"]) => steps.filter(({ step }) => step.action === action).length;
  return {
    partnerId: plan.partnerId ?? null,
    summary: {
      create: count("create"),
      update: count("update"),
      delete: count("delete"),
      deliver: count("deliver"),
      unchanged: plan.organizations.reduce((sum, { unchanged }) => sum + unchanged, 0),
      notes: notes.length,
    },
    budget,
    items: steps.map(({ slug, step: { action, kind, name, id, line, changes } }) => ({
      action,
      kind,
      organization: slug,
      name,
      id: id ?? null,
      line: line ?? null,
      changes,
    })),
    notes: notes.map(({ organization, kind, name, message, command }) => ({
      organization,
      kind,
      name,
      message,
      command: command ?? null,
    })),
  };
}

export const kindNames: Record<ObjectKind, string> = {
  organization: "organization",
  site: "site",
  contact: "contact",
  enrollmentKey: "enrollment key",
};

const marks = {
  create: ["+", "green"],
  update: ["~", "yellow"],
  delete: ["-", "red"],
  deliver: [">", "cyan"],
} as const;

/** The plan for a person. Values come from a file and a server: control characters are escaped. */
export function planText({ items, notes, summary }: PlanView, { coloured }: { coloured: boolean }): string {
  const lines = items.flatMap(({ action, kind, organization, name, changes }) => {
    const [mark, style] = marks[action];
    const where = kind === "organization" ? organization : `${organization} / ${name}`;
    const head = `${styled(mark, style, coloured)} ${action} ${kindNames[kind]} ${escapeControls(where)}`;
    return [head, ...changes.map((change) => `    ${escapeControls(changeText(change, action))}`)];
  });
  const remarks = notes.flatMap(({ organization, kind, name, message, command }) => [
    `${styled("!", "yellow", coloured)} ${kindNames[kind]} ${escapeControls(`${organization} / ${name}: ${message}`)}`,
    ...(command === null ? [] : [`    ${escapeControls(command)}`]),
  ]);
  return [...lines, ...remarks, summaryText(summary), ""].join("\n");
}

function changeText({ field, before, after }: FieldChange, action: Step["action"]): string {
  return action === "update" ? `${field}: ${valueText(before)} → ${valueText(after)}` : `${field}: ${valueText(after)}`;
}

const valueText = (value: unknown): string =>
  value === null ? "(none)" : typeof value === "string" ? value : JSON.stringify(value);

/** `no changes`, or how many of each. */
export function summaryText(summary: PlanView["summary"]): string {
  const words = { delete: "to delete", create: "to create", update: "to change", deliver: "to deliver" } as const;
  const parts = (Object.keys(words) as (keyof typeof words)[])
    .filter((action) => summary[action] > 0)
    .map((action) => `${summary[action]} ${words[action]}`);
  return parts.length === 0 ? "no changes" : `${parts.join(", ")}, ${summary.unchanged} unchanged`;
}
