/** What an agent says of a command, once its malformed parts are left out. */
export interface ReportedResult {
  readonly status: "completed" | "failed" | "timeout";
  readonly exitCode?: number | undefined;
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  readonly error?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly startedAt?: string | undefined;
  readonly result?: unknown;
  readonly truncated?: boolean | undefined;
}

const LATE_MAX = 64 * 1024;

/** As it is kept: `data` is what was sent as `result`, else the JSON that `stdout` holds. */
export function resultOf({ result, ...told }: ReportedResult): Record<string, unknown> & { status: string } {
  const data = result ?? jsonIn(told.stdout);
  const kept = Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
  return { ...kept, status: told.status, ...(data === undefined ? {} : { data }) };
}

function jsonIn(stdout: string | undefined): unknown {
  const first = stdout?.trimStart()[0];
  if (stdout === undefined || (first !== "{" && first !== "[")) return undefined;
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** Whole where it is small, else its status and the beginning of its outputs. */
export function lateResult(reported: ReportedResult): Record<string, unknown> {
  const whole = resultOf(reported);
  if (Buffer.byteLength(JSON.stringify(whole)) <= LATE_MAX) return whole;
  const cut = (text: string | undefined) => text?.slice(0, LATE_MAX / 16);
  const { status, exitCode, stdout, stderr, error, errorCode } = reported;
  const parts = { status, exitCode, errorCode, stdout: cut(stdout), stderr: cut(stderr), error: cut(error) };
  return { ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)), truncated: true };
}
