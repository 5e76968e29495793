import { createHash } from "node:crypto";

const style =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}" +
  "code{display:block;margin:1rem 0;overflow-wrap:anywhere}";

/** A whole page from a title and the inside of its body, in which text that comes from elsewhere is escaped. */
export const htmlPage = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`;

/** A port that the command line can listen on, written as digits alone. */
const isPort = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4,5}$/.test(text) && Number(text) >= 1_024 && Number(text) <= 65_535;

/**
 * Where the form of a page may go that hands something over to the command line on this machine: to this port and,
 * since the listener sends the browser back, to this server.
 */
export const handOverTo = (port: string | undefined): string =>
  isPort(port) ? `'self' http://127.0.0.1:${port}` : "'none'";

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

interface Allowed {
  readonly script?: string;
  readonly formAction?: string;
  /** Its script may ask this server. */
  readonly connects?: boolean;
}

/** The page loads nothing, tells no other site its address, and lets only this script run and forms go only there. */
export function pageHeaders({ script, formAction = "'none'", connects = false }: Allowed = {}) {
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    ...(connects ? ["connect-src 'self'"] : []),
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action ${formAction}`,
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] as string);
