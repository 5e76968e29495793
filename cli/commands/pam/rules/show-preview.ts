import type { Context } from "../../../context.ts";
import { formatOf, printResult } from "../../../output/print.ts";

/** What a preview answers. */
export interface Preview {
  readonly totalMatched: number;
  readonly totalScanned: number;
  readonly windowDays: number;
  readonly truncated: boolean;
  readonly statusBreakdown: Readonly<Record<string, number>>;
  readonly comparison: unknown;
  readonly sample: readonly Sampled[];
}
interface Sampled {
  readonly targetExecutablePath: string | null;
  readonly toolName: string | null;
}

const columns = ["status", "subjectUsername", "target", "requestedAt", "id"];
const more = (one: Sampled) => ({ target: one.targetExecutablePath ?? one.toolName });

/** Prints the newest requests that match, and says how many do; programs get the answer as it is. */
export async function showPreview(context: Context, preview: Preview, fields: readonly string[]): Promise<void> {
  if (formatOf(context) !== "table" || context.globals.columns !== undefined)
    return printResult(context, preview, { fields });
  const { comparison, sample } = preview;
  // Of one request it is asked how each criterion compares, and the request is known.
  if (comparison !== null) await printResult(context, { comparison }, { fields });
  else await printResult(context, sample, { fields: columns, view: { columns, more, shortIds: true } });
  await context.notice(sentenceOf(preview));
}

const numberText = (count: number): string => count.toLocaleString("en-US");
const requestsText = (count: number): string => `${numberText(count)} request${count === 1 ? "" : "s"}`;

/** `2 of 4 requests of the last 30 days match: 1 pending, 1 denied`. */
function sentenceOf(preview: Preview): string {
  const { totalMatched, totalScanned, windowDays, truncated, statusBreakdown, comparison, sample } = preview;
  if (comparison !== null) return totalMatched > 0 ? "The request matches" : "The request does not match";
  const days = windowDays === 1 ? "of the last day" : `of the last ${windowDays} days`;
  const scanned = `${truncated ? "the newest " : ""}${requestsText(totalScanned)} ${days}`;
  if (totalScanned === 0) return `There are no requests ${days}`;
  const statuses = Object.entries(statusBreakdown).filter(([, count]) => count > 0);
  const counts = statuses.map(([status, count]) => `${numberText(count)} ${status}`).join(", ");
  const matched = totalMatched === 0 ? "None" : numberText(totalMatched);
  const cut = totalMatched > sample.length ? `; the newest ${sample.length} are shown` : "";
  return `${matched} of ${scanned} ${totalMatched === 1 ? "matches" : "match"}${counts && `: ${counts}`}${cut}`;
}
