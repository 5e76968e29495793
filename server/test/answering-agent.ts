import { deviceTopic } from "#server/features/fleet/device-commands/signals";
import type { TestServer } from "./harness.ts";

interface Told {
  readonly id: string;
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

export interface AgentOf {
  readonly deviceId: string;
  readonly agentId: string;
  readonly agentToken: string;
}

/** What a well agent answers; null: it takes the command and says nothing. */
export type Answers = (command: Told) => object | null;

const process = {
  pid: 4711,
  name: "notepad.exe",
  cpuPercent: 1.5,
  memoryMb: 20,
  user: "pat",
  status: "Running",
  startTime: "2026-01-01T08:00:00Z",
  commandLine: "notepad.exe /p hunter2",
  parentPid: 1,
  threads: 3,
};
const service = {
  name: "Spooler",
  displayName: "Print Spooler",
  status: "StartPending",
  startType: "Automatic (Delayed)",
  account: "LocalSystem",
  description: "Prints",
  path: "spoolsv.exe --password hunter2",
  dependencies: ["RPCSS"],
};
const record = { recordId: 4711, timestamp: "2026-01-01T08:00:00Z", level: "Warning", source: "disk", eventId: 7 };
const data: Readonly<Record<string, unknown>> = {
  list_processes: { processes: [process] },
  get_process: process,
  list_services: { services: [service] },
  get_service: service,
  event_logs_list: { logs: [{ name: "System", recordCount: 200 }] },
  event_log_get: record,
};

export const wellAnswers: Answers = ({ type, payload }) => ({
  status: "completed",
  result: type === "event_logs_query" ? pageOfRecords(payload) : (data[type] ?? {}),
});

/** Records are paged by the agent. */
const pageOfRecords = ({ page }: Told["payload"]) => ({ events: page === 1 ? [record] : [], total: 1 });

/** Claims what waits for one device, as its signals tell, and answers it, through the agent's routes, until stopped. */
export function startAgent(
  server: Pick<TestServer, "request" | "services">,
  { deviceId, agentId, agentToken: token }: AgentOf,
  answers: Answers = wellAnswers,
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const wake = () => server.services.store.signals.heard(deviceTopic(deviceId), 1_000, stopped.signal);
  const work = async (first: Promise<void>) => {
    for (let woken = first; ; ) {
      await woken;
      if (stopped.signal.aborted) return;
      woken = wake();
      const claimed = await server.request("GET", `/agents/${agentId}/commands`, { token });
      for (const command of (claimed.body.commands ?? []) as Told[]) {
        const body = answers(command);
        if (body !== null)
          await server.request("POST", `/agents/${agentId}/commands/${command.id}/result`, { token, body });
      }
    }
  };
  const working = work(wake());
  return {
    async stop() {
      stopped.abort();
      await working;
    },
  };
}
