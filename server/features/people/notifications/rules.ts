import { notificationPriorities } from "#contract/resources/people/notifications";

export const TITLE_MAX = 255;
export const MESSAGE_MAX = 2_000;
const LINK_MAX = 500;

/** Rows of one type that a person gets within an hour in one tenant; what comes on top is counted in one row. */
export const HOURLY_MAX = 100;
/** Rows of a person in one tenant; the oldest go. */
export const KEPT_MAX = 10_000;

export type Priority = (typeof notificationPriorities)[number];

export const moreUrgent = (one: Priority, other: Priority): Priority =>
  notificationPriorities.indexOf(one) >= notificationPriorities.indexOf(other) ? one : other;

/** Names that producers put into a text may be long: it is cut, since a text that does not fit must not undo the change. */
export function cut(text: string, max: number): string {
  const letters = [...text];
  return letters.length <= max ? text : `${letters.slice(0, max - 1).join("")}…`;
}

/**
 * A path below the application's own address. Browsers drop control characters and read a backslash as a slash, so
 * `//host`, `/\host` and what becomes one of them would lead elsewhere.
 */
export const isOwnPath = (link: string): boolean =>
  link.length <= LINK_MAX && /^\/(?![/\\])[^\u0000-\u0020\u007f\\]*$/.test(link);
