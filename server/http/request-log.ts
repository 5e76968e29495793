import type { IncomingMessage, ServerResponse } from "node:http";
import type { Services } from "#server/services";
import type { RequestFacts } from "./request-facts.ts";

interface Watched {
  request: IncomingMessage;
  response: ServerResponse;
  facts: RequestFacts;
  /** Template, never the address itself: ids and queries stay out of the log. */
  route: string;
}

/** One slim line a request, and the counters of `GET /metrics`. */
export function watchRequest(services: Services, { request, response, facts, route }: Watched): void {
  const { metrics, log } = services;
  const started = process.hrtime.bigint();
  const method = request.method ?? "GET";
  metrics.inFlight.inc();
  response.once("close", () => {
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    metrics.inFlight.dec();
    metrics.requests.inc({ method, route, status_class: `${Math.floor(response.statusCode / 100)}xx` });
    metrics.duration.observe({ method, route }, seconds);
    log.info("request", {
      requestId: facts.requestId,
      method,
      route,
      status: response.statusCode,
      ms: Math.round(seconds * 1_000),
      ...(facts.caller?.kind === "user" ? { userId: facts.caller.userId } : {}),
      ...(facts.caller?.kind === "agent" ? { deviceId: facts.caller.deviceId } : {}),
      ...(facts.caller && "keyId" in facts.caller ? { keyId: facts.caller.keyId } : {}),
    });
  });
}
