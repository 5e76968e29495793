import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RmmClient } from "#sdk/client";
import { ForbiddenError, RmmError } from "#sdk/errors";
import { paced } from "../provisioning/sender.ts";
import { openJournal } from "./journal.ts";
import { type RotationItem, rotateKeys } from "./rotate-keys.ts";

const SERVER = "https://rmm.example";
const lost = () =>
  new RmmError("the connection ended", { code: "CONNECTION_FAILED", outcome: "unknown", retryable: true });
const refused = () => new ForbiddenError("no", { status: 403, code: "FORBIDDEN", outcome: "rejected" });
const item: RotationItem = {
  kind: "api-key",
  id: "0198a000-0000-7000-8000-000000000000",
  principalId: null,
  name: "ci",
  organization: "contoso",
  sink: { kind: "stdout" },
};

describe("rotating keys", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "rmm-rotate-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** What is still to be fetched after attempts that fail so. */
  async function leftAfter(...failures: RmmError[]): Promise<{ unfinished: number; code: string | undefined }> {
    const path = join(folder, "journal");
    const journal = await openJournal(path, SERVER);
    const rotate = () => ({ withResponse: () => Promise.reject(failures.shift()) });
    const { results } = await rotateKeys([item], {
      rmm: { apiKeys: { rotate } } as unknown as RmmClient,
      sender: paced({ perMinute: 0, signal: new AbortController().signal, sleep: async () => undefined }),
      journal,
      signal: new AbortController().signal,
      now: () => 0,
      say: () => undefined,
      tell: async () => undefined,
      deliver: async () => "safe",
    });
    await journal.close();
    const { unfinished } = await openJournal(path, SERVER);
    return { unfinished: unfinished.length, code: results[0]?.error?.code };
  }

  it("a refusal leaves nothing to fetch", async () => {
    expect(await leftAfter(refused())).toEqual({ unfinished: 0, code: "FORBIDDEN" });
  });

  it("a refusal after an attempt without an answer says nothing about that one: its secret can still be fetched", async () => {
    expect(await leftAfter(lost(), refused())).toEqual({ unfinished: 1, code: "OUTCOME_UNKNOWN" });
  });
});
