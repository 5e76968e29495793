import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { paged, stubApi } from "../../test-api.ts";
import { ANY_ID } from "../../test-commands.ts";
import { NOW, testCommand } from "../../test-shell.ts";

const command = testCommand();
const SECRET = "whsec_of-the-receiver";
const BODY = '{"id":"e1",  "type":"device.online"}\n';
let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "rmm-webhooks-"));
  writeFileSync(join(dir, "secret"), `${SECRET}\n`);
  writeFileSync(join(dir, "body"), BODY);
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
  command.close();
});

describe("rmm webhooks verify", () => {
  const at = Math.floor(NOW / 1_000);
  const headersOf = (timestamp: number, body = BODY) => {
    const mac = createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex");
    return [
      "--request-header",
      `X-Webhook-Timestamp: ${timestamp}`,
      "--request-header",
      `x-webhook-signature:sha256=${mac}`,
    ];
  };
  const verify = (headers: readonly string[], more: readonly string[] = []) => {
    const files = ["--body-file", join(dir, "body"), "--secret-file", join(dir, "secret")];
    return command.run(["webhooks", "verify", ...files, ...headers, ...more]);
  };

  it("prints the event of a genuine delivery, without server and sign-in", async () => {
    const { code, stdout, stderr } = await verify(headersOf(at), ["--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({ id: "e1", type: "device.online" });
  });

  it.each([
    ["another body", () => headersOf(at, `${BODY} `), [], "WRONG_SIGNATURE"],
    ["an old signature", () => headersOf(at - 301), [], "TIMESTAMP_OUT_OF_TOLERANCE"],
    ["no signature", () => headersOf(at).slice(0, 2), [], "NO_SIGNATURE"],
    ["two signatures", () => [...headersOf(at, "other"), ...headersOf(at).slice(2)], [], "NO_SIGNATURE"],
  ] as const)("exits 15 for %s, and prints nothing", async (_, headers, more, reason) => {
    const { code, stdout, stderr } = await verify(headers(), [...more, "--json"]);
    expect([code, stdout, JSON.parse(stderr).error.code]).toEqual([15, "", reason]);
    expect(stderr).not.toContain(SECRET);
  });

  it("takes an old one where the tolerance says so, and names everything that is missing", async () => {
    expect((await verify(headersOf(at - 5_000), ["--tolerance", "6000"])).code).toBe(0);
    const { code, stderr } = await command.run(["webhooks", "verify"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--body-file.*--secret-file.*--request-header/s)]);
  });
});

describe("rmm webhooks deliveries --follow", () => {
  let stub: Stub;
  let asked = 0;
  const stop = new AbortController();
  const delivery = (id: string, status: string, attempts: number) => ({ id, webhookId: ANY_ID, status, attempts });
  const answers = [
    [delivery("b", "retrying", 1), delivery("a", "delivered", 1)],
    [delivery("c", "pending", 0), delivery("b", "delivered", 2), delivery("a", "delivered", 1)],
  ];
  beforeAll(async () => {
    stub = await stubApi({
      [`GET /webhooks/${ANY_ID}/deliveries`]: (_, query) => {
        const rows = answers[Math.min(asked, 1)]!;
        asked += 1;
        if (asked > 1) stop.abort();
        return paged(rows, query);
      },
    });
  });
  afterAll(() => stub.close());

  it("prints a line for each that is new or has changed, oldest first, until it is interrupted", async () => {
    const argv = ["webhooks", "deliveries", ANY_ID, "--follow", "--ndjson"];
    const { code, stdout } = await command.run(argv, {
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token" },
      signal: stop.signal,
    });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, 2).map(({ id, status }) => `${id} ${status}`)).toEqual(["a delivered", "b retrying"]);
    expect(code).toBe(130);
  });
});
