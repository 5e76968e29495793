import { createHash } from "node:crypto";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { docsScript } from "./docs-script.ts";
import { docsStyle } from "./docs-style.ts";

/** A page that reads `openapi.json` beside it and shows it; nothing comes from another host. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>rmm API</title>
<style>${docsStyle}</style>
</head>
<body>
<header>
<h1>rmm API</h1>
<input id="search" type="search" placeholder="Search: path, summary, permission, error code" aria-label="Search endpoints" autofocus>
<p id="count" role="status"></p>
</header>
<div id="layout"><nav id="nouns" aria-label="Resources"></nav><main id="endpoints"><p>Loading…</p></main></div>
<noscript>This page needs JavaScript; the document itself is at openapi.json.</noscript>
<script>${docsScript}</script>
</body>
</html>
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Only this very script and style run, and the page talks to its own server only. */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(docsScript)}`,
  `style-src ${hashOf(docsStyle)}`,
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
  return page;
}
