import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Express } from "express";
import { problem } from "#server/problem";

/** Below the page that shows the API; `npm run build` takes them out of swagger-ui-dist. */
const files = /\/docs\/(swagger-ui\.css|swagger-ui-bundle\.js)$/;

/** Name of the file that the page at `/docs` loads from this path; undefined for any other. */
export const docsFileAt = (path: string): string | undefined => files.exec(path)?.[1];

interface Visit {
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
}

/** Asked for again at each visit, and answered with 304 while it is the same. */
export async function sendDocsFile(
  { request, response, requestId }: Visit,
  name: string,
  failed: (error: unknown) => void,
): Promise<void> {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    failed(problem("METHOD_NOT_ALLOWED"));
    return;
  }
  const headers = {
    "X-Request-Id": requestId,
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
  try {
    const root = dirname(createRequire(import.meta.url).resolve("#docs-ui/swagger-ui.css"));
    const app = await expressApp();
    app.use((_request, to) =>
      to.sendFile(name, { root, cacheControl: false, headers }, (error) => error && failed(error)),
    );
    app(request, response);
  } catch (error) {
    failed(error);
  }
}

/** Loaded at the first visit: nothing else needs the framework. */
async function expressApp(): Promise<Express> {
  const { default: express } = await import("express");
  return express().disable("x-powered-by");
}
