import { eventLogs } from "#contract/resources/remote/event-logs";
import type { Call } from "#server/http/call";
import { implement } from "#server/http/implement";
import { problem } from "#server/problem";
import { askAgent } from "../core/ask-agent.ts";
import { pageOfAll } from "../core/reported-list.ts";
import { ReportedLogs, ReportedPage, ReportedRecord } from "./reported.ts";

type OfDevice = Call & { readonly params: { deviceId: string } };

const logsOf = (call: OfDevice) =>
  askAgent(call, { deviceId: call.params.deviceId, type: "event_logs_list", payload: {}, shape: ReportedLogs });

/** What the device's own logs hold now; nothing of it is stored (docs/remote.md, "Event logs"). */
export const routes = implement(eventLogs, {
  list: async (call) => pageOfAll(await logsOf(call), call.query),
  async get(call) {
    const wanted = call.params.name.toLowerCase();
    const found = (await logsOf(call)).find(({ name }) => name.toLowerCase() === wanted);
    if (!found) throw problem("NOT_FOUND");
    return found;
  },
  async records(call) {
    const { deviceId, name: logName } = call.params;
    const { page, limit, ...filters } = call.query;
    const { events, total } = await askAgent(call, {
      deviceId,
      type: "event_logs_query",
      payload: { logName, ...filters, page, limit },
      shape: ReportedPage,
    });
    const data = events.slice(0, limit);
    return { data, pagination: { page, limit, total: Math.max(total ?? 0, (page - 1) * limit + data.length) } };
  },
  async record(call) {
    const { deviceId, name: logName, recordId } = call.params;
    return askAgent(call, {
      deviceId,
      type: "event_log_get",
      payload: { logName, recordId },
      shape: ReportedRecord,
    });
  },
});
