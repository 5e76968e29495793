import type { Endpoint } from "#contract/core/endpoint";
import type { services } from "#contract/resources/remote/services";
import type { Call } from "#server/http/call";
import { askAgent } from "../core/ask-agent.ts";
import { pageOfAll, seesCommandLines } from "../core/reported-list.ts";
import { type AnyService, ReportedServices } from "./reported.ts";

type ListCall = typeof services.list extends Endpoint<infer T> ? Call<T> : never;

export async function listServices(call: ListCall) {
  const { search, status } = call.query;
  const all = await askAgent(call, {
    deviceId: call.params.deviceId,
    type: "list_services",
    payload: {},
    shape: ReportedServices,
  });
  const wanted = search?.toLowerCase() ?? "";
  const found = all.filter(
    (one) =>
      (status === undefined || one.status === status) &&
      `${one.name}\n${one.displayName}\n${one.description}`.toLowerCase().includes(wanted),
  );
  return pageOfAll(
    found.map((one) => shown(call, one)),
    call.query,
  );
}

export const shown = (call: Pick<Call, "who">, service: AnyService): AnyService =>
  seesCommandLines(call) ? service : { ...service, path: null };
