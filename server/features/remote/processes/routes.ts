import { processes } from "#contract/resources/remote/processes";
import { implement } from "#server/http/implement";
import { askAgent } from "../core/ask-agent.ts";
import { killProcess } from "./kill.ts";
import { listProcesses } from "./list.ts";
import { ReportedProcess } from "./reported.ts";
import { shown } from "./shown.ts";

export const routes = implement(processes, {
  list: listProcesses,
  async get(call) {
    const { deviceId, pid } = call.params;
    const payload = { pid: Number(pid) };
    return shown(call, await askAgent(call, { deviceId, type: "get_process", payload, shape: ReportedProcess }));
  },
  kill: killProcess,
});
