import { createHash } from "node:crypto";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/** Nothing is sent to another host: no validator, no fonts. What is typed in to try a call is forgotten on leaving. */
const start = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#api",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  showExtensions: true,
  validatorUrl: null,
});`;

/** The files below `docs/` are those of Swagger UI (`http/docs-files.ts`). */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>rmm API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<noscript>This page needs JavaScript; the document itself is at openapi.json.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script>${start}</script>
</body>
</html>
`;

/** Only files of this server and this very script run, and the page talks to its own server only. */
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash("sha256").update(start).digest("base64")}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The viewer of the API document; off in production unless `ENABLE_API_DOCS_UI` is set
 * (docs/platform.md, "Operational endpoints").
 */
export async function showDocs(call: Pick<Call, "config" | "setHeader">): Promise<string> {
  if (!call.config.apiDocsUi) throw problem("NOT_FOUND");
  call.setHeader("Content-Security-Policy", policy);
  call.setHeader("Referrer-Policy", "no-referrer");
  call.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  return page;
}
