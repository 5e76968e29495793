import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
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
    expect([code, stderr]).toEqual([0, "Genuine: signed with this secret\n"]);
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
        return paged(rows, query);
      },
    });
  });
  afterAll(() => stub.close());

  it("prints a line for each that is new or has changed, oldest first, until it is interrupted", async () => {
    const argv = ["webhooks", "deliveries", ANY_ID, "--follow", "--ndjson"];
    const told: string[] = [];
    const stdout = new Writable({
      write(chunk: Buffer, _, done) {
        const { id, status } = JSON.parse(chunk.toString());
        if (told.push(`${id} ${status}`) === 4) stop.abort();
        done();
      },
    });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
    expect((await command.run(argv, { env, signal: stop.signal, stdout })).code).toBe(130);
    expect(told).toEqual(["a delivered", "b retrying", "b delivered", "c pending"]);
  });
});

describe("rmm webhooks test, create", () => {
  const refused = async (code: string, path: string, argv: readonly string[]) => {
    const stub = await stubApi({ [`POST ${path}`]: () => refusal(400, code) });
    const { stderr } = await command.run(["webhooks", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token" } });
    await stub.close();
    return stderr.replaceAll(/\s+/g, " ");
  };

  it("says where the outcome of a test is seen: the answer comes before the attempt", async () => {
    const stub = await stubApi({
      [`POST /webhooks/${ANY_ID}/test`]: () => ({ status: 202, body: { message: "Delivery queued" } }),
    });
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token" };
    const { code, stdout, stderr } = await command.run(["webhooks", "test", ANY_ID, "--json"], { env });
    await stub.close();
    expect([code, JSON.parse(stdout)]).toEqual([0, { message: "Delivery queued" }]);
    expect(stderr).toContain(`rmm webhooks deliveries ${ANY_ID}`);
  });

  it("says where kinds are listed, and what reaches a receiver inside", async () => {
    expect(await refused("UNKNOWN_EVENT", `/webhooks/${ANY_ID}/test`, ["test", ANY_ID, "--event", "x"])).toMatch(
      /`rmm webhooks create --help` lists the kinds/,
    );
    const create = ["create", "--org-id", ANY_ID, "--name", "n", "--url", "http://127.0.0.1/", "--events", "*"];
    expect(await refused("UNSAFE_URL", "/webhooks", create)).toMatch(
      /rmm webhooks listen.*WEBHOOK_ALLOW_PRIVATE=true /,
    );
    const help = await command.run(["webhooks", "listen", "--help"]);
    expect(help.stdout).toMatch(/Kinds of events: .*device\.offline/);
  });
});
