import { z } from "zod";
import type { Endpoint } from "#contract/core/endpoint";
import type { processes } from "#contract/resources/remote/processes";
import type { Call } from "#server/http/call";
import { askAgent } from "../core/ask-agent.ts";

type KillCall = typeof processes.kill extends Endpoint<infer T> ? Call<T> : never;

/** The word `force` may stand in the query or in the body. */
export async function killProcess(call: KillCall) {
  const pid = Number(call.params.pid);
  const force = call.query.force ?? call.body?.force ?? false;
  await askAgent(call, {
    deviceId: call.params.deviceId,
    type: "kill_process",
    payload: { pid, force },
    shape: z.unknown(),
    changes: true,
  });
  return { success: true as const, message: `Process ${pid} was ended` };
}
