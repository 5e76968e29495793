import type { Endpoint } from "#contract/core/endpoint";
import type { processes } from "#contract/resources/remote/processes";
import type { Call } from "#server/http/call";
import { askAgent } from "../core/ask-agent.ts";
import { pageOfAll } from "../core/reported-list.ts";
import { type AnyProcess, ReportedProcesses } from "./reported.ts";
import { shown } from "./shown.ts";

type ListCall = typeof processes.list extends Endpoint<infer T> ? Call<T> : never;

const fields = { cpu: "cpuPercent", memory: "memoryMb", pid: "pid", name: "name", user: "user" } as const;

/** What is hidden from the caller is not searched either. */
export async function listProcesses(call: ListCall) {
  const { search, sortBy, sortDesc } = call.query;
  const all = await askAgent(call, {
    deviceId: call.params.deviceId,
    type: "list_processes",
    payload: {},
    shape: ReportedProcesses,
  });
  const wanted = search?.toLowerCase() ?? "";
  const found = all
    .map((one) => shown(call, one))
    .filter(({ name, user, commandLine }) => `${name}\n${user}\n${commandLine}`.toLowerCase().includes(wanted));
  if (sortBy !== undefined) found.sort(by(fields[sortBy], sortDesc === true));
  return pageOfAll(found, call.query);
}

/** What is unknown comes last either way. */
const by = (field: keyof AnyProcess, desc: boolean) => (a: AnyProcess, b: AnyProcess) => {
  const [left, right] = [a[field], b[field]];
  if (left === null || right === null) return left === right ? a.pid - b.pid : left === null ? 1 : -1;
  const order =
    typeof left === "number" && typeof right === "number" ? left - right : String(left).localeCompare(String(right));
  return (desc ? -order : order) || a.pid - b.pid;
};
