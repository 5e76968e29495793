import { type Style, styled } from "../output/colour.ts";
import { escapeControls } from "../output/escape.ts";
import type { FieldChange, ObjectKind } from "./field-change.ts";
import { kindNames } from "./plan-text.ts";
import type { NoteView, PlanItem } from "./plan-view.ts";
import { isObject, valueText } from "./value-text.ts";

export interface Differences {
  /** What stands left and right. */
  readonly server: string;
  readonly file: string;
  readonly items: readonly PlanItem[];
  /** Known differences that a plan does not carry out. */
  readonly notes: readonly NoteView[];
}

/** Differences in the form of `diff -u`, which editors and pull requests know how to colour: one line for each value. */
export function differenceText(
  { server, file, items, notes }: Differences,
  { coloured }: { coloured: boolean },
): string {
  const line = (text: string, style?: Style) =>
    style === undefined ? escapeControls(text) : styled(escapeControls(text), style, coloured);
  const block = (about: Heading, changes: readonly FieldChange[]) => [
    line(headOf(about), "cyan"),
    ...changes.flatMap(({ field, before, after }) => [
      ...leaves(field, before, after).map((one) => line(`-${one}`, "red")),
      ...leaves(field, after, before).map((one) => line(`+${one}`, "green")),
    ]),
  ];
  const blocks = [
    ...items.flatMap((one) =>
      block({ ...one, word: one.action }, one.action === "delete" ? [removed(one)] : one.changes),
    ),
    ...notes.flatMap((one) =>
      block({ ...one, word: "left to a person:" }, one.changes.length > 0 ? one.changes : [said(one)]),
    ),
  ];
  return blocks.length === 0 ? "" : `${[line(`--- ${server}`), line(`+++ ${file}`), ...blocks].join("\n")}\n`;
}

interface Heading {
  readonly word: string;
  readonly kind: ObjectKind;
  readonly key: string;
  readonly item: { readonly line: number | null };
}

const headOf = ({ word, kind, key, item }: Heading): string =>
  `@@ ${word} ${kindNames[kind]} ${key}${item.line === null ? "" : `, line ${item.line}`} @@`;

const removed = ({ item }: PlanItem): FieldChange => ({ field: "name", before: item.name, after: null });
const said = ({ left, message, item }: NoteView): FieldChange =>
  left === "held" ? { field: "name", before: item.name, after: null } : { field: "note", before: null, after: message };

/** The values of a field that the other side does not have, one a line: `address.region: WA`. */
function leaves(field: string, value: unknown, other: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (!isObject(value)) return JSON.stringify(value) === JSON.stringify(other) ? [] : [`${field}: ${valueText(value)}`];
  const beside = isObject(other) ? other : {};
  return Object.entries(value).flatMap(([key, inner]) => leaves(`${field}.${key}`, inner, beside[key]));
}
