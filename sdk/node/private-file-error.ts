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
    const reason = (cause as NodeJS.ErrnoException | undefined)?.code;
    super(`${meanings[code]} ${path}${reason === undefined ? "" : `: ${reason}`}`, { cause });
    this.code = code;
    this.path = path;
  }
}
