import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import type { Call } from "#server/http/call";
import { handOverTo, htmlPage, pageHeaders } from "#server/platform/html-page";
import { pageScript } from "./page-script.ts";

type PageCall = typeof approverDevices.page extends Endpoint<infer T> ? Call<T> : never;

const page = htmlPage(
  "rmm approver device",
  `<main><h1>rmm</h1><p id="message" role="status">One moment…</p><dl id="facts"></dl>
<p><button id="sign" type="button" hidden></button> <button id="leave" type="button" hidden>Cancel</button></p></main>
<noscript>This page needs JavaScript to ask the approver device.</noscript>
<script>${pageScript}</script>`,
);

/**
 * Where a browser asks an approver device (docs/approver-devices.md, "The page"). Only its own script runs; it reads from
 * this server alone, and its form reaches only the port that the address names and, since the listener sends the
 * browser back here, this page.
 */
export async function showPage(call: PageCall): Promise<string> {
  const formAction = handOverTo(call.query.port);
  const headers = pageHeaders({ script: pageScript, formAction, connects: true });
  for (const [name, value] of Object.entries(headers)) call.setHeader(name, value);
  return page;
}
