import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import type { Call } from "#server/http/call";
import { handOverTo, htmlPage, pageHeaders } from "#server/platform/html-page";
import { cliPageScript } from "./cli-page-script.ts";

type CliPageCall = typeof ssoLogins.cliPage extends Endpoint<infer T> ? Call<T> : never;

const page = htmlPage(
  "rmm sign-in",
  `<main><h1>rmm</h1><p id="message" role="status">One moment…</p></main>
<noscript>This page needs JavaScript to hand over to the command line.</noscript>
<script>${cliPageScript}</script>`,
);

/**
 * Where a sign-in that `rmm auth login --sso` began ends: hands the one-time code to the listener on this machine (the
 * README has the hand-over). Only its own script runs, and its form reaches only the port that the address names and,
 * since the listener sends the browser back here, this page.
 */
export async function showCliPage(call: CliPageCall): Promise<string> {
  const formAction = handOverTo(call.query.port);
  for (const [name, value] of Object.entries(pageHeaders({ script: cliPageScript, formAction })))
    call.setHeader(name, value);
  return page;
}
