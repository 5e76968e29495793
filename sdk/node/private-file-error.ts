import { systemReason } from "./system-reason.ts";

const meanings = {
  UNREADABLE: "Cannot read",
  UNWRITABLE: "Cannot write",
  NOT_JSON: "This is not JSON:",
  LOCKED: "Another process holds",
} as const;

/** A private file of this machine that cannot be used. */
export class PrivateFileError extends Error {
  override readonly name = "PrivateFileError";
  readonly code: keyof typeof meanings;
  readonly path: string;

  constructor(code: keyof typeof meanings, path: string, cause?: unknown) {
    const reason = cause === undefined ? "" : `: ${systemReason(cause)}`;
    super(`${meanings[code]} ${path}${reason}`, { cause });
    this.code = code;
    this.path = path;
  }
}
