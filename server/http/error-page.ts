import type { IncomingMessage } from "node:http";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { escapeHtml, htmlPage } from "#server/platform/html-page";
import type { Problem } from "#server/problem";

/** Whether a person would read the error: browsers are sent to these endpoints, and say that they take pages. */
export const isBrowsed = ({ transport }: AnyEndpoint, { headers }: IncomingMessage): boolean =>
  (transport === "redirect" || transport === "html") && /\btext\/html\b/i.test(headers.accept ?? "");

/** What the body of the error says, as a page. */
export const errorPage = ({ message, status, code }: Problem, requestId: string): string =>
  htmlPage(
    "That did not work",
    `<main><h1>That did not work</h1>\n<p>${escapeHtml(message)}</p>\n` +
      "<p>Begin again where you came from, or on the command line with <code>rmm auth login</code></p>\n" +
      `<p>${status} ${code}, request ${escapeHtml(requestId)}</p></main>`,
  );
