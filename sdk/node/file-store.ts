import { rm } from "node:fs/promises";
import type { SessionStore, SessionTokens } from "../session.ts";
import { withFileLock } from "./file-lock.ts";
import { readPrivateJson, writePrivateJson } from "./private-json.ts";

/**
 * Keeps one sign-in in a file of mode 0600. Processes that share the file take turns at refreshing, so that they share
 * the session too: each refresh token works once. Needs a file system on which `rename` is atomic.
 *
 * @example
 * const rmm = createClient({ baseUrl, credentials: { store: fileStore("/var/lib/report/session.json") } });
 */
export const fileStore = (path: string): SessionStore => ({
  read: () => readPrivateJson<SessionTokens>(path),
  write: (tokens) => writePrivateJson(path, tokens),
  clear: () => rm(path, { force: true }),
  withLock: (work) => withFileLock(`${path}.lock`, work),
});
