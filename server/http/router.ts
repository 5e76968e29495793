import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type Router } from "express";
import { isErrorCode } from "#contract/core/errors";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import type { Implementation } from "./implement.ts";
import { answer } from "./pipeline.ts";
import { factsOf, type RequestFacts } from "./request-facts.ts";
import { watchRequest } from "./request-log.ts";
import { sendError } from "./respond.ts";

export const API_PREFIX = "/api/v1";

type Request = IncomingMessage & { facts: RequestFacts; params: Record<string, string> };

export function httpApp(services: Services, implementations: readonly Implementation[]): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.set("case sensitive routing", true);
  const routers = mounted(services, implementations);
  app.use((request, response, next) => {
    const facts = factsOf(request, services.random, services.config);
    (request as unknown as Request).facts = facts;
    response.setHeader("X-Request-Id", facts.requestId);
    const [, mount, rest] = MOUNT.exec(facts.path) ?? [];
    const router = mount === undefined ? undefined : routers.get(mount);
    if (!router) return next();
    request.url = `${rest || "/"}${facts.search}`;
    return router(request, response, next);
  });
  app.use((request, response) => refuse(services, request as unknown as Request, response, problem("NOT_FOUND")));
  app.use((error: unknown, request: unknown, response: ServerResponse, _next: unknown) =>
    refuse(services, request as Request, response, readable(error)),
  );
  return app;
}

/** The prefix with its first segment, or the first segment alone; and what follows. */
const MOUNT = /^((?:\/api\/v1)?\/[^/]*)(\/.*)?$/;

/** One router per first path segment, looked up by name: trying every prefix in turn costs more than the route itself (measured). */
function mounted(services: Services, implementations: readonly Implementation[]): Map<string, Router> {
  const routers = new Map<string, Router>();
  for (const [segment, members] of bySegment(implementations)) {
    routers.set(`${API_PREFIX}/${segment}`, routerOf(services, members, `/${segment}`, API_PREFIX));
    const atRoot = members.filter((member) => member.endpoint.alsoAtRoot);
    if (atRoot.length > 0) routers.set(`/${segment}`, routerOf(services, atRoot, `/${segment}`, ""));
  }
  return routers;
}

function bySegment(implementations: readonly Implementation[]): Map<string, Implementation[]> {
  const groups = new Map<string, Implementation[]>();
  for (const implementation of implementations) {
    const segment = implementation.endpoint.path.split("/")[1] as string;
    groups.set(segment, [...(groups.get(segment) ?? []), implementation]);
  }
  return groups;
}

/** Literal segments before parameters (contract 1 A1); a path that exists answers other methods with 405. */
function routerOf(services: Services, members: readonly Implementation[], prefix: string, mount: string): Router {
  const router = express.Router({ caseSensitive: true });
  const paths = [...new Set(members.map((member) => member.endpoint.path))].sort(literalFirst);
  for (const path of paths) {
    const here = members.filter((member) => member.endpoint.path === path);
    const route = router.route(path.slice(prefix.length) || "/");
    for (const implementation of here) {
      const label = `${mount}${path}`;
      route[implementation.endpoint.method.toLowerCase() as "get"]((request, response) => {
        const { facts } = request as unknown as Request;
        watchRequest(services, { request, response, facts, route: label });
        return answer(services, implementation, request as unknown as Request, response, facts);
      });
    }
    const allowed = here.map((member) => member.endpoint.method).join(", ");
    route.all((request, response) => {
      response.setHeader("Allow", allowed);
      refuse(services, request as unknown as Request, response, problem("METHOD_NOT_ALLOWED"));
    });
  }
  return router;
}

export function literalFirst(a: string, b: string): number {
  const left = a.split("/");
  const right = b.split("/");
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = Number(left[index]?.startsWith(":")) - Number(right[index]?.startsWith(":"));
    if (difference !== 0) return difference;
  }
  return 0;
}

function refuse(services: Services, request: Request, response: ServerResponse, error: Error): void {
  watchRequest(services, { request, response, facts: request.facts, route: "unmatched" });
  sendError(services, response, request.facts, error);
}

/** Express refuses a path it cannot decode (`/%00`, `/%zz`) with an error of its own. */
function readable(error: unknown): Error {
  const status = (error as { status?: number } | null)?.status;
  if (status === 400) return problem("VALIDATION_ERROR", { message: "The path cannot be read" });
  const code = (error as { code?: string } | null)?.code;
  if (code !== undefined && isErrorCode(code)) return error as Error;
  return error instanceof Error ? error : new Error(String(error));
}
