import { styled } from "../output/colour.ts";
import { escapeControls, escapeTsv } from "../output/escape.ts";
import { counted } from "./budget.ts";
import type { ItemResult } from "./item-result.ts";
import { isForPerson, type Note } from "./note.ts";
import { kindNames } from "./plan-text.ts";

export interface ApplySummary {
  readonly done: number;
  readonly failed: number;
  /** Not tried: something before failed, or the run was interrupted. */
  readonly skipped: number;
  /** Deletes that wait for --allow-delete. */
  readonly held: number;
  /** Differences that only a person can bring about. */
  readonly person: number;
  /** All that is left, with what the caller cannot see. */
  readonly notes: number;
}

export function summaryOf(results: readonly ItemResult[], notes: readonly Note[]): ApplySummary {
  const count = (outcome: ItemResult["outcome"]) => results.filter((one) => one.outcome === outcome).length;
  return {
    done: count("done"),
    failed: count("failed"),
    skipped: count("skipped"),
    held: count("held"),
    person: notes.filter(isForPerson).length,
    notes: notes.length,
  };
}

const doneWords = { create: "created", update: "changed", delete: "deleted", deliver: "delivered" } as const;
const styles = { done: "green", failed: "red", skipped: "yellow", held: "yellow" } as const;

/** One result on one line, for a person. */
export function resultText(result: ItemResult, { coloured }: { coloured: boolean }): string {
  const { outcome, action, kind, organization, item, sink, error, changes } = result;
  const word = outcome === "done" ? doneWords[action] : outcome;
  const where = kind === "organization" ? organization : `${organization} / ${item.name}`;
  const what = `${outcome === "done" ? "" : `${action} `}${kindNames[kind]} ${where}`;
  const more = [
    ...(action === "update" ? [`(${changes.map(({ field }) => field).join(", ")})`] : []),
    ...(outcome === "done" && sink !== undefined ? [`→ ${sink}`] : []),
    ...(outcome === "held" ? ["(needs --allow-delete)"] : []),
    ...(error ? [`: ${error.message} (${error.code})${error.hint ? `. ${error.hint}` : ""}`] : []),
  ];
  return `${styled(word.padEnd(9), styles[outcome], coloured)} ${escapeControls(`${what} ${more.join(" ")}`.trimEnd())}\n`;
}

/** One result as a row for a pipe. */
export const resultRow = ({ outcome, action, kind, organization, item, id, sink, error }: ItemResult): string =>
  `${[outcome, action, kind, organization, item.name, id ?? "", sink ?? "", error ? `${error.code}: ${error.message}` : ""].map(escapeTsv).join("\t")}\n`;

/** The last line of a run. */
export function endText({ done, failed, skipped, held, person }: ApplySummary): string {
  const parts = [
    `${done} done`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} not tried`] : []),
    ...(held > 0
      ? [`${counted(held, "delete")} held back: --allow-delete carries out what the file does not list`]
      : []),
    ...(person > 0 ? [`${person} left to a person`] : []),
  ];
  return parts.join(", ");
}
