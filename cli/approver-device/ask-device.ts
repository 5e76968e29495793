import type { Context } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import type { Awaited } from "../hand-over/hand-over-request.ts";
import { openListener } from "../hand-over/listener.ts";
import { showAddress } from "../hand-over/show-address.ts";
import { isUnattended } from "../shell.ts";

/** What the server has begun, and what is done with the device. */
export interface Asked {
  readonly pageUrl: string;
  readonly challenge: string;
  /** Host that the device signs for. */
  readonly host: string;
  readonly timeoutMs: number;
  /** As a sentence begins with it. */
  readonly what: string;
  readonly mayOpen: boolean;
}

/** The credential that the page sends, as JSON. */
const deviceAnswer: Awaited = {
  answer: { field: "answer", pattern: /^\{[\x20-\x7e]+\}$/ },
  error: "deviceError",
  mostBytes: 65_536,
};

/**
 * Asks the approver device of the person at the browser, on the page of the server (server/docs/approver-devices.md, "The
 * page"), and tells the page whether what was made of the answer worked.
 */
export async function withDevice<R>(context: Context, asked: Asked, use: (answer: string) => Promise<R>): Promise<R> {
  const { shell, globals } = context;
  if (isUnattended(shell, !globals.input)) throw needsPerson();
  const { pageUrl, challenge, what, mayOpen } = asked;
  requireOwnPage(asked);
  const listener = await openListener(pageUrl, deviceAnswer);
  try {
    const query = new URLSearchParams({ port: String(listener.port), state: listener.state });
    await showAddress(context, `${pageUrl}?${query}#challenge=${challenge}`, { port: listener.port, mayOpen, what });
    const timeoutMs = Math.min(globals.timeoutMs ?? asked.timeoutMs, asked.timeoutMs);
    const handOver = await listener.wait(timeoutMs, shell.signal);
    if (handOver === undefined) throw unanswered(`The device did not answer within ${Math.round(timeoutMs / 1_000)} s`);
    if ("error" in handOver) throw unanswered("It was cancelled in the browser");
    const result = await use(handOver.answer);
    await listener.answer(true);
    return result;
  } finally {
    // After a success the browser already has its answer.
    await listener.answer(false);
    await listener.close();
  }
}

/** The device signs for the host whose page it is: an address of another one is no page of the server. */
function requireOwnPage({ pageUrl, host }: Asked): void {
  const page = URL.canParse(pageUrl) ? new URL(pageUrl) : undefined;
  if (page?.hostname === host && /^https?:$/.test(page.protocol) && page.hash === "" && page.search === "") return;
  throw new CliError("The server returned an address that is not its own page", {
    exit: "failure",
    code: "BAD_ANSWER",
  });
}

const unanswered = (message: string): CliError =>
  new CliError(`${message}: nothing was changed`, {
    exit: "unauthenticated",
    code: "DEVICE_UNANSWERED",
    hint: "The browser must run on this machine, or its port must be forwarded here. Start again",
  });

const needsPerson = (): CliError =>
  new CliError("It takes a person with an approver device at a browser, and none is present (CI or --no-input)", {
    exit: "usage",
    code: "NEEDS_A_PERSON",
    hint: "Approve it where somebody is at a browser",
  });
