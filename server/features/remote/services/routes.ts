import { z } from "zod";
import { services } from "#contract/resources/remote/services";
import type { Call } from "#server/http/call";
import { implement } from "#server/http/implement";
import { askAgent } from "../core/ask-agent.ts";
import { listServices, shown } from "./list.ts";
import { ReportedService } from "./reported.ts";

type OfOne = Call & { readonly params: { deviceId: string; name: string } };

const changes =
  (type: "start_service" | "stop_service" | "restart_service", done: string) =>
  async (call: OfOne): Promise<{ success: true; message: string }> => {
    const { deviceId, name } = call.params;
    await askAgent(call, { deviceId, type, payload: { name }, shape: z.unknown(), changes: true });
    return { success: true, message: `Service ${name} was ${done}` };
  };

export const routes = implement(services, {
  list: listServices,
  async get(call) {
    const { deviceId, name } = call.params;
    return shown(
      call,
      await askAgent(call, { deviceId, type: "get_service", payload: { name }, shape: ReportedService }),
    );
  },
  start: changes("start_service", "started"),
  stop: changes("stop_service", "stopped"),
  restart: changes("restart_service", "restarted"),
});
