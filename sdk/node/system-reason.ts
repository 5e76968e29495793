const words: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "this account is not allowed to",
  EPERM: "this account is not allowed to",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  EEXIST: "it exists already",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the quota of this account is used up",
  ELOOP: "it is a symbolic link, or one of too many",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
};

/** Why the system refused a file, in words; its code where there are none. Any other error says what it says. */
export function systemReason(error: unknown): string {
  const { code, message, syscall } = (error ?? {}) as { code?: unknown; message?: unknown; syscall?: unknown };
  if (typeof code === "string" && Object.hasOwn(words, code)) return words[code]!;
  if (typeof code === "string" && (syscall !== undefined || typeof message !== "string")) return code;
  return typeof message === "string" && message !== "" ? message : "failed";
}
