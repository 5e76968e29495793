import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
const ID = "3f2a9100-0000-4000-8000-000000000001";
const path = `/pam/elevation-requests/${ID}`;
let stub: Stub;
/** What the server has of the person and the request. */
let devices: object[];
let riskTier: number;
let pageUrl: string;
let levels: object | undefined;

/** Programs in the place of a browser: one that sends what the page would, one that is of another page. */
const browsers = {
  "page.mjs": `
const { searchParams } = new URL(process.argv[2]);
const send = (fields) => fetch("http://127.0.0.1:" + searchParams.get("port") + "/", { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });
const proof = { credentialId: "YQ", authenticatorData: "YQ", clientDataJSON: "YQ", signature: "YQ" };
await send({ state: "x".repeat(43), answer: JSON.stringify({ ...proof, credentialId: "c3RvbGVu" }) });
await send({ state: searchParams.get("state"), answer: "not JSON" });
await send({ state: searchParams.get("state"), answer: JSON.stringify(proof) });
`,
  "cancel.mjs": `
const { searchParams } = new URL(process.argv[2]);
await fetch("http://127.0.0.1:" + searchParams.get("port") + "/", { method: "POST", body: new URLSearchParams({ state: searchParams.get("state"), deviceError: "cancelled" }), redirect: "manual" });
`,
};

beforeAll(async () => {
  for (const [name, text] of Object.entries(browsers)) writeFileSync(join(command.dir, name), text);
  stub = await stubApi({
    "GET /authenticator/devices": (_seen, query) => ({ body: { data: paged(devices, query).body.data } }),
    [`GET ${path}`]: () => ({
      body: {
        ...{ id: ID, status: "pending", flowType: "uac_intercept", subjectUsername: "jana", riskTier, events: [] },
        ...{ deviceId: null, deviceHostname: "till-1", requestedAt: "2026-01-01T00:00:00.000Z" },
      },
    }),
    [`POST ${path}/assertion-challenge`]: () => ({
      body: {
        options: {
          ...{ challenge: "c".repeat(43), rpId: "rmm.example", timeout: 5_000, userVerification: "required" },
          ...(devices.length > 0 && { allowCredentials: devices }),
        },
        pageUrl,
      },
    }),
    [`POST ${path}/respond`]: (seen) =>
      levels !== undefined && (seen.body as { proof?: object } | undefined)?.proof === undefined
        ? refusal(403, "STEP_UP_REQUIRED", { details: levels })
        : { body: { success: true, id: ID, status: "approved", enforcementStatus: "none" } },
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  devices = [{ id: "YQ", type: "public-key", transports: ["internal"] }];
  [riskTier, levels] = [3, undefined];
  pageUrl = "https://rmm.example/api/v1/authenticator/page";
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const approve = (browser: string, more: readonly string[] = [], env: Record<string, string> = {}) =>
  command.run(["pam", "approve", ID, "--yes", ...more], {
    env: {
      ...{ RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
      ...{ DISPLAY: ":0", BROWSER: `${process.execPath} ${join(command.dir, browser)}`, ...env },
    },
  });
const decisions = () => writesOf(stub).filter(({ path: at }) => at.endsWith("/respond"));

describe("approving with a device", () => {
  it("sends what the page of the command brings, once, whatever others send to its port", async () => {
    expect(await approve("page.mjs")).toMatchObject({ code: 0 });
    expect(decisions().map(({ body }) => body)).toEqual([
      {
        decision: "approve",
        proof: { credentialId: "YQ", authenticatorData: "YQ", clientDataJSON: "YQ", signature: "YQ" },
      },
    ]);
  });

  it("is asked for at a high risk of who has one, and of others where the server wants it", async () => {
    riskTier = 2;
    expect(await approve("page.mjs")).toMatchObject({ code: 0 });
    expect(decisions().map(({ body }) => Object.keys(body as object))).toEqual([["decision"]]);
    stub.seen.length = 0;
    levels = { requiredLevel: 2, achievedLevel: 1 };
    expect(await approve("page.mjs")).toMatchObject({ code: 0 });
    expect(decisions().map(({ body }) => "proof" in (body as object))).toEqual([false, true]);
  });

  it("who has none is told how to register one, and nothing is decided", async () => {
    [devices, levels] = [[], { requiredLevel: 3, achievedLevel: 1 }];
    const { code, stderr, stdout } = await approve("page.mjs");
    expect([code, stdout]).toEqual([4, ""]);
    expect(stderr).toContain("rmm approver-devices register");
    expect(decisions()).toHaveLength(1);
  });

  it.each([
    ["of another host", "https://evil.example/api/v1/authenticator/page"],
    ["that begins like the host", "https://rmm.example.evil.test/page"],
    ["of no web page", "file:///rmm.example/page"],
    ["with a query of its own", "https://rmm.example/page?port=1"],
  ])("an address %s is not opened", async (_, url) => {
    pageUrl = url;
    const { code, stderr } = await approve("page.mjs");
    expect(code).toBe(1);
    expect(stderr).toContain("not its own page");
    expect(decisions()).toEqual([]);
  });

  it("decides nothing where it is cancelled, nobody answers, or nobody is there", async () => {
    expect(await approve("cancel.mjs")).toMatchObject({ code: 4, stdout: "" });
    const late = await approve("page.mjs", ["--no-browser", "--timeout", "1s"]);
    expect(late).toMatchObject({ code: 4, stdout: "" });
    expect(late.stderr).toContain("https://rmm.example/api/v1/authenticator/page?port=");
    const unattended = await approve("page.mjs", [], { CI: "true" });
    expect([unattended.code, unattended.stdout]).toEqual([2, ""]);
    expect(unattended.stderr).toContain("a person with an approver device");
    expect(decisions()).toEqual([]);
  });
});
