import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { docsFileAt, sendDocsFile } from "./docs-files.ts";
import { isBrowsed } from "./error-page.ts";
import type { Implementation } from "./implement.ts";
import { linkPageAt, linkPageText } from "./link-pages.ts";
import { answer } from "./pipeline.ts";
import { factsOf, type RequestFacts } from "./request-facts.ts";
import { watchRequest } from "./request-log.ts";
import { sendError, sendPage } from "./respond.ts";
import { type Match, parametersOf, routeTable } from "./route-table.ts";
import type { Upgrade } from "./upgrade.ts";
import { upgradePaths } from "./upgrade-paths.ts";

export const API_PREFIX = "/api/v1";

/** Every request matches an endpoint of the contract, a page, or a file of the page that shows the API, or is refused. */
export function httpApp(
  services: Services,
  implementations: readonly Implementation[],
  upgrades: readonly Upgrade[] = [],
): RequestListener {
  const find = routeTable(implementations, API_PREFIX);
  const upgradeAt = upgradePaths(upgrades, API_PREFIX);
  return (request, response) => {
    const facts = factsOf(request, services.random, services.config);
    const exchange = { request, response, facts };
    try {
      if (upgradeAt(facts.path)) throw onlyUpgrades(response);
      void pass(services, find, exchange);
    } catch (error) {
      refuse(services, exchange, error);
    }
  };
}

/** Most often a proxy in between that does not pass the wish on. */
function onlyUpgrades(response: ServerResponse) {
  response.setHeader("Upgrade", "websocket");
  return problem("VALIDATION_ERROR", { message: "This path takes WebSockets alone, and the request asks for none" });
}

function pass(services: Services, find: ReturnType<typeof routeTable>, exchange: Exchange): Promise<void> | void {
  const { path } = exchange.facts;
  refuseTwoHosts(exchange.request);
  const match = find(path);
  const page = match === undefined ? linkPageAt(path) : undefined;
  if (page !== undefined) return showPage(services, exchange, (server) => linkPageText(page, server));
  const file = match === undefined && services.config.apiDocsUi ? docsFileAt(path) : undefined;
  if (file !== undefined) return sendFile(services, file, exchange);
  return dispatch(services, match, exchange);
}

/** Two of them, alike or not, are how a request means one host to a proxy and another to what is behind it. */
export function refuseTwoHosts({ rawHeaders }: IncomingMessage): void {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts > 1) throw problem("VALIDATION_ERROR", { message: "The Host header came more than once" });
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  facts: RequestFacts;
  browsed?: boolean;
}

/** A path that exists answers other methods with 405; HEAD is GET without a body. */
function dispatch(services: Services, match: Match | undefined, exchange: Exchange): Promise<void> | void {
  if (!match) return refuse(services, exchange, problem("NOT_FOUND", { details: { path: "unknown" } }));
  const { route, values } = match;
  const method = exchange.request.method ?? "GET";
  const target = route.byMethod.get(method === "HEAD" ? "GET" : method);
  if (!target) {
    exchange.response.setHeader("Allow", [...route.byMethod.keys()].join(", "));
    return refuse(services, exchange, problem("METHOD_NOT_ALLOWED"));
  }
  const params = parametersOf(target, values);
  if (!params) {
    const browsed = isBrowsed(target.implementation.endpoint, exchange.request);
    return refuse(
      services,
      { ...exchange, browsed },
      problem("VALIDATION_ERROR", { message: "The path cannot be read" }),
    );
  }
  watchRequest(services, { ...exchange, route: route.label });
  const { request, response, facts } = exchange;
  return answer(services, target.implementation, Object.assign(request, { params }), response, facts);
}

/** Pages only answer; the metrics count them together. */
function showPage(services: Services, exchange: Exchange, textFor: (server: string) => string): void {
  const { request, response, facts } = exchange;
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    refuse(services, exchange, problem("METHOD_NOT_ALLOWED"));
    return;
  }
  watchRequest(services, { ...exchange, route: "page" });
  sendPage(exchange, 200, textFor(services.config.publicUrl ?? facts.origin));
}

function sendFile(services: Services, name: string, exchange: Exchange): void {
  const { request, response, facts } = exchange;
  watchRequest(services, { ...exchange, route: "/docs/*" });
  void sendDocsFile({ request, response, requestId: facts.requestId }, name, (error) =>
    sendError(services, exchange, error),
  );
}

function refuse(services: Services, exchange: Exchange, error: unknown): void {
  watchRequest(services, { ...exchange, route: "unmatched" });
  sendError(services, exchange, error);
}
