import type { CommandType } from "#contract/core/command-types";
import type { ReportedResult } from "#server/features/fleet/device-commands/results";

const MEGABYTE = 1024 * 1024;
const OUTPUT_MAX = 5 * MEGABYTE;

/** Outputs are cut at 5 MB, and data that is larger than its type may be is left out (docs/fleet.md, "Results of commands"). */
export function cutReport(report: ReportedResult, type: CommandType): ReportedResult {
  const dataMax = type === "file_read" ? 24 * MEGABYTE : OUTPUT_MAX;
  const [stdout, stderr] = [cut(report.stdout), cut(report.stderr)];
  const tooMuch = report.result !== undefined && Buffer.byteLength(JSON.stringify(report.result)) > dataMax;
  const truncated = stdout !== report.stdout || stderr !== report.stderr || tooMuch;
  const { result, ...rest } = report;
  return {
    ...rest,
    stdout,
    stderr,
    ...(tooMuch || result === undefined ? {} : { result }),
    ...(truncated ? { truncated: true } : {}),
  };
}

/** At most 5 MB of UTF-8, without half a character at the end. */
function cut(text: string | undefined): string | undefined {
  if (text === undefined || Buffer.byteLength(text) <= OUTPUT_MAX) return text;
  return new TextDecoder().decode(Buffer.from(text).subarray(0, OUTPUT_MAX)).replace(/\ufffd+$/, "");
}
