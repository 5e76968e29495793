import { styled } from "../output/colour.ts";
import { escapeControls } from "../output/escape.ts";
import type { Budget } from "./budget.ts";
import type { FieldChange, ObjectKind } from "./field-change.ts";
import { isForPerson, type Left, type Note } from "./note.ts";
import { keyOf, notesOf, type Plan, type Step, shownSteps } from "./plan.ts";

/** How many of each. */
export interface PlanSummary {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly deliver: number;
  /** Differences that only a person can bring about. */
  readonly person: number;
  /** Deletes that are not carried out: without --allow-delete, or by a caller who cannot. */
  readonly held: number;
  /** Of the deletes: those that the server would refuse as things stand. */
  readonly refused: number;
  readonly unchanged: number;
  readonly notes: number;
}

export interface PlanItem {
  readonly action: Step["action"];
  readonly kind: ObjectKind;
  readonly key: string;
  readonly organization: string;
  readonly id: string | null;
  readonly changes: readonly FieldChange[];
  readonly item: { readonly line: number | null; readonly name: string };
  readonly refused: string | null;
}

export interface NoteView {
  readonly kind: ObjectKind;
  readonly key: string;
  readonly organization: string;
  readonly changes: readonly FieldChange[];
  readonly item: { readonly line: number | null; readonly name: string };
  readonly left: Left;
  readonly message: string;
  readonly command: string | null;
}

export interface PlanView {
  readonly partnerId: string | null;
  readonly summary: PlanSummary;
  readonly budget: Budget;
  readonly items: readonly PlanItem[];
  readonly notes: readonly NoteView[];
}

/** The plan as `--json` prints it. */
export function planView(plan: Plan, budget: Budget, allowDelete: boolean): PlanView {
  return {
    partnerId: plan.partnerId ?? null,
    summary: planSummary(plan, allowDelete),
    budget,
    items: planItems(plan),
    notes: notesOf(plan).map(noteView),
  };
}

export const planItems = (plan: Plan): PlanItem[] =>
  shownSteps(plan).map(({ slug, step }) => {
    const { action, kind, name, id, line, changes, refused } = step;
    const item = { line: line ?? null, name };
    const about = { action, kind, key: keyOf(slug, step), organization: slug, id: id ?? null };
    return { ...about, changes, item, refused: refused ?? null };
  });

export const noteView = (note: Note): NoteView => {
  const { organization, kind, name, line, left, message, command } = note;
  const item = { line: line ?? null, name };
  const about = { kind, key: keyOf(organization, note), organization, changes: note.changes ?? [], item };
  return { ...about, left, message, command: command ?? null };
};

function planSummary(plan: Plan, allowDelete: boolean): PlanSummary {
  const steps = shownSteps(plan).map(({ step }) => step);
  const notes = notesOf(plan);
  const count = (action: Step["action"]) => steps.filter((step) => step.action === action).length;
  return {
    create: count("create"),
    update: count("update"),
    delete: count("delete"),
    deliver: count("deliver"),
    person: notes.filter(isForPerson).length,
    held: (allowDelete ? 0 : count("delete")) + notes.filter(({ left }) => left === "held").length,
    refused: steps.filter(({ refused }) => refused !== undefined).length,
    unchanged: plan.organizations.reduce((sum, { unchanged }) => sum + unchanged, 0),
    notes: notes.length,
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
  const lines = items.flatMap(({ action, kind, organization, item: { name }, changes, refused }) => {
    const [mark, style] = marks[action];
    const where = kind === "organization" ? organization : `${organization} / ${name}`;
    const head = `${styled(mark, style, coloured)} ${action} ${kindNames[kind]} ${escapeControls(where)}`;
    const fault =
      refused === null ? "" : `  ${styled("the server refuses", "red", coloured)}: ${escapeControls(refused)}`;
    return [`${head}${fault}`, ...changes.map((change) => `    ${escapeControls(changeText(change, action))}`)];
  });
  const remarks = notes.flatMap(({ organization, kind, item: { name }, message, command }) => [
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
export function summaryText(summary: PlanSummary): string {
  const { person, held, unchanged } = summary;
  const words = { create: "to create", update: "to change", deliver: "to deliver" } as const;
  const actions = (Object.keys(words) as (keyof typeof words)[])
    .filter((action) => summary[action] > 0)
    .map((action) => `${summary[action]} ${words[action]}`);
  const parts = [
    ...deletesText(summary),
    ...actions,
    ...(summary.delete === 0 && held > 0 ? [`${held} not in the file`] : []),
    ...(person > 0 ? [`${person} left to a person`] : []),
  ];
  return parts.length === 0 ? "no changes" : [...parts, `${unchanged} unchanged`].join(", ");
}

function deletesText({ delete: count, held, refused }: PlanSummary): string[] {
  if (count === 0) return [];
  const remarks = [
    ...(held > 0 ? ["held back without --allow-delete"] : []),
    ...(refused > 0 ? [`${refused} refused by the server`] : []),
  ];
  return [`${count} to delete${remarks.length === 0 ? "" : ` (${remarks.join("; ")})`}`];
}
