import { createHash } from "node:crypto";
import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import type { Call } from "#server/http/call";
import { cliPageScript } from "./cli-page-script.ts";

type CliPageCall = typeof ssoLogins.cliPage extends Endpoint<infer T> ? Call<T> : never;

const style = "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>rmm sign-in</title>
<style>${style}</style>
</head>
<body>
<main><h1>rmm</h1><p id="message" role="status">One moment…</p></main>
<noscript>This page needs JavaScript to hand over to the command line.</noscript>
<script>${cliPageScript}</script>
</body>
</html>
`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const policy = [
  "default-src 'none'",
  `script-src ${hashOf(cliPageScript)}`,
  `style-src ${hashOf(style)}`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A port that the command line can listen on, written as digits alone. */
const isPort = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4,5}$/.test(text) && Number(text) >= 1_024 && Number(text) <= 65_535;

/**
 * Where a sign-in that `rmm auth login --sso` began ends: hands the one-time code to the listener on this machine (the
 * README has the hand-over). Only its own script runs, and its form reaches only the port that the address names and,
 * since the listener sends the browser back here, this page.
 */
export async function showCliPage(call: CliPageCall): Promise<string> {
  const { port } = call.query;
  const target = isPort(port) ? `'self' http://127.0.0.1:${port}` : "'none'";
  call.setHeader("Content-Security-Policy", `${policy}; form-action ${target}`);
  call.setHeader("Referrer-Policy", "no-referrer");
  call.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  return page;
}
