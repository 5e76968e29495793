import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { Response } from "express";
import { problem } from "#server/problem";

/** Below the page that shows the API; `npm run build` takes them out of swagger-ui-dist. */
const files = /\/docs\/(swagger-ui\.css|swagger-ui-bundle\.js)$/;

/** Name of the file that the page at `/docs` loads from this path; undefined for any other. */
export const docsFileAt = (path: string): string | undefined => files.exec(path)?.[1];

let folder: string | undefined;

/** Asked for again at each visit, and answered with 304 while it is the same. */
export function sendDocsFile(
  { method, response, requestId }: { method: string | undefined; response: Response; requestId: string },
  name: string,
  failed: (error: unknown) => void,
): void {
  if (method !== "GET" && method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    failed(problem("METHOD_NOT_ALLOWED"));
    return;
  }
  folder ??= dirname(createRequire(import.meta.url).resolve("#docs-ui/swagger-ui.css"));
  const headers = {
    "X-Request-Id": requestId,
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
  response.sendFile(name, { root: folder, cacheControl: false, headers }, (error) => {
    if (error !== undefined) failed(error);
  });
}
