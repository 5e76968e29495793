import { styled } from "../output/colour.ts";
import { escapeControls } from "../output/escape.ts";
import type { FieldChange, ObjectKind } from "./field-change.ts";
import { stable } from "./fields.ts";
import type { Step } from "./plan.ts";
import type { NoteView, PlanSummary, PlanView } from "./plan-view.ts";
import { isObject, valueText } from "./value-text.ts";

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

/** Before a question: more would leave the screen. */
const EXTRACT_LINES = 40;

/** For a person who is asked: how many of each first, then the plan as far as a screen goes; `all` says how to see it whole. */
export function planExtract(view: PlanView, { coloured, all }: { coloured: boolean; all: string }): string {
  const lines = planLines(view, coloured);
  const more = lines.length - EXTRACT_LINES;
  const shown = more > 0 ? [...lines.slice(0, EXTRACT_LINES), `… ${more} more lines: ${all}`] : lines;
  return [summaryText(view.summary), ...shown, ""].join("\n");
}

/** The plan for a person. Values come from a file and a server: control characters are escaped. */
export const planText = (view: PlanView, { coloured }: { coloured: boolean }): string =>
  [...planLines(view, coloured), summaryText(view.summary), ""].join("\n");

function planLines({ items, notes }: PlanView, coloured: boolean): string[] {
  const lines = items.flatMap(({ action, kind, organization, item: { name }, changes, refused }) => {
    const [mark, style] = marks[action];
    const where = kind === "organization" ? organization : `${organization} / ${name}`;
    const head = `${styled(mark, style, coloured)} ${action} ${kindNames[kind]} ${escapeControls(where)}`;
    const fault =
      refused === null ? "" : `  ${styled("the server refuses", "red", coloured)}: ${escapeControls(refused)}`;
    return [
      `${head}${fault}`,
      ...changes.flatMap(singleFields).map((change) => `    ${escapeControls(changeText(change, action))}`),
    ];
  });
  return [...lines, ...notes.flatMap((note) => noteLines(note, coloured))];
}

/** What is left to a person, and what to type about it. */
export const noteLines = (
  { organization, kind, item: { name }, message, command }: NoteView,
  coloured = false,
): string[] => [
  `${styled("!", "yellow", coloured)} ${kindNames[kind]} ${escapeControls(`${organization} / ${name}: ${message}`)}`,
  ...(command === null ? [] : [`    ${escapeControls(command)}`]),
];

/** An address and its like field by field, those that stay as they are left out. */
export function singleFields(change: FieldChange): FieldChange[] {
  const { field, before, after } = change;
  const isPlain = (value: unknown) => value === null || value === undefined || isObject(value);
  if (!(isObject(before) || isObject(after)) || !isPlain(before) || !isPlain(after)) return [change];
  const [was, will] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
  const inner = [...new Set([...Object.keys(was), ...Object.keys(will)])]
    .filter((key) => stable(was[key]) !== stable(will[key]))
    .flatMap((key) => singleFields({ field: `${field}.${key}`, before: was[key] ?? null, after: will[key] ?? null }));
  return inner.length === 0 ? [change] : inner;
}

function changeText({ field, before, after }: FieldChange, action: Step["action"]): string {
  return action === "update" ? `${field}: ${valueText(before)} → ${valueText(after)}` : `${field}: ${valueText(after)}`;
}

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
