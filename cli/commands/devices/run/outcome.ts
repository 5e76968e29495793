import type { Command } from "#sdk/generated/models/index";
import type { DescribedError } from "../../../errors/describe-error.ts";
import type { ExitName } from "../../../errors/exit-codes.ts";
import type { Listing } from "../../../generic/outcome-printer.ts";
import type { Chosen } from "../chosen.ts";

/** What became of the command of one device. */
export interface Entry {
  readonly device: Chosen;
  /** `exists`: one was pending already. `open`: it was not over when the run stopped waiting. `skipped`: not queued. */
  readonly outcome: "queued" | "done" | "exists" | "open" | "failed" | "skipped";
  readonly command?: Command;
  readonly error?: DescribedError;
  readonly exit?: ExitName;
}

/** One entry as programs get it; its first five fields are those of every item that this program prints. */
export const shownEntry = ({ device, outcome, command, error }: Entry) => ({
  outcome,
  kind: "deviceCommand",
  key: `${device.orgName ?? device.orgId}/${device.hostname}`,
  changes: [],
  item: { line: null, name: device.hostname },
  deviceId: device.id,
  ...(command && { result: command }),
  ...(error && { error }),
});

export type ShownEntry = ReturnType<typeof shownEntry>;

const columns = ["name", "outcome", "status", "exitCode", "message", "organization", "commandId", "deviceId"];

export const listing: Listing<ShownEntry> = {
  fields: ["outcome", "kind", "key", "changes", "item", "deviceId", "result", "error"],
  columns,
  keep: ["name", "outcome"],
  rowOf: ({ outcome, key, item, deviceId, result, error }) => ({
    name: item.name,
    outcome,
    status: result?.status,
    exitCode: result?.result?.exitCode,
    message: error === undefined ? firstLine(result) : `${error.code}: ${error.message}`,
    organization: key.slice(0, key.lastIndexOf("/")),
    commandId: result?.id,
    deviceId,
  }),
};

/** What the device said, as far as a table has room for it. */
const firstLine = (command: Command | undefined): string | undefined =>
  command?.result?.stdout?.split("\n", 1)[0]?.slice(0, 120) || undefined;

export const problem = (code: string, message: string, hint?: string): DescribedError => ({
  code,
  message,
  status: undefined,
  requestId: undefined,
  details: undefined,
  hint,
});

export const isOpen = ({ status }: Command): boolean => status === "pending" || status === "sent";

/** A command that is over. */
export function ended(entry: Entry, command: Command): Entry {
  if (command.status === "completed") return { ...entry, outcome: "done", command };
  const { error, exitCode, reason } = command.result ?? {};
  const [code, plain] = ends[command.status as keyof typeof ends];
  const why = error ?? (typeof exitCode === "number" && exitCode !== 0 ? `exit code ${exitCode}` : plain);
  const message = reason === undefined ? why : `${why} (${reason})`;
  return { ...entry, outcome: "failed", command, error: problem(code, message), exit: "failure" };
}

const ends = {
  failed: ["COMMAND_FAILED", "the device could not carry it out"],
  timeout: ["COMMAND_TIMEOUT", "the device fetched it and never answered; it may have run"],
  cancelled: ["COMMAND_CANCELLED", "the device did not fetch it, and it did not run"],
} as const;
