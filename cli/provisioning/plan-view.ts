import type { Budget } from "./budget.ts";
import type { FieldChange, ObjectKind } from "./field-change.ts";
import { isForPerson, type Left, type Note } from "./note.ts";
import { orderedSteps } from "./order.ts";
import { keyOf, notesOf, type Plan, type Step, shownSteps, stepsOf } from "./plan.ts";

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
    items: planItems(plan, orderedSteps),
    notes: notesOf(plan).map(noteView),
  };
}

/** What differs; `orderedSteps` gives what is sent, which may be more than one change for one difference. */
export const planItems = (plan: Plan, steps: typeof stepsOf = stepsOf): PlanItem[] =>
  shownSteps(plan, steps).map(({ slug, step }) => {
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
  const steps = shownSteps(plan, orderedSteps).map(({ step }) => step);
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
