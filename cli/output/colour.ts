import type { Shell } from "../shell.ts";
import { ownSequence } from "./escape.ts";

/**
 * Whether one stream is coloured. FORCE_COLOR and CLICOLOR_FORCE win, then NO_COLOR, CLICOLOR=0 and TERM=dumb
 * turn it off, and otherwise a terminal is coloured.
 */
export function isColoured({ env, isTty }: Pick<Shell, "env" | "isTty">, stream: "stdout" | "stderr"): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced.toLowerCase() !== "false";
  if (env["CLICOLOR_FORCE"] !== undefined && env["CLICOLOR_FORCE"] !== "0") return true;
  if (env["NO_COLOR"]) return false;
  if (env["CLICOLOR"] === "0" || env["TERM"] === "dumb") return false;
  return isTty[stream];
}

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof codes;

/** Styled text, or plain text if the stream is not coloured. */
export function styled(text: string, style: Style, coloured: boolean): string {
  const [on, off] = codes[style];
  return coloured ? `${ownSequence(on, "m")}${text}${ownSequence(off, "m")}` : text;
}

const byStatus: Record<string, Style> = {
  active: "green",
  online: "green",
  ok: "green",
  success: "green",
  trial: "cyan",
  invited: "cyan",
  pending: "yellow",
  warn: "yellow",
  offboarding: "yellow",
  suspended: "yellow",
  maintenance: "yellow",
  updating: "yellow",
  offline: "red",
  fail: "red",
  failure: "red",
  denied: "red",
  revoked: "red",
  expired: "red",
  churned: "red",
  quarantined: "red",
};

/** Style of a well-known status word. */
export const styleOfStatus = (text: string): Style | undefined =>
  Object.hasOwn(byStatus, text) ? byStatus[text] : undefined;

/** A cell, or a line of one, in the style of the status that the whole cell is. */
export function painted(text: string, whole: string, coloured: boolean): string {
  const style = styleOfStatus(whole);
  return style === undefined ? text : styled(text, style, coloured);
}
