import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;

/** In the place of a browser: somebody who reads its argument list, and answers with a credential of their own. */
const thief = `
const { searchParams, hash } = new URL(process.argv[2]);
const response = { id: "YQ", rawId: "YQ", type: "public-key", response: { clientDataJSON: "YQ", attestationObject: "YQ" } };
if (!hash.startsWith("#challenge=")) throw new Error("no challenge");
const answer = JSON.stringify(process.argv[3] === "guesses" ? { code: "1000000", response } : response);
const fields = new URLSearchParams({ state: searchParams.get("state"), answer });
await fetch("http://127.0.0.1:" + searchParams.get("port") + "/", { method: "POST", body: fields, redirect: "manual" });
`;

beforeAll(async () => {
  writeFileSync(join(command.dir, "thief.mjs"), thief);
  stub = await stubApi({
    "POST /authenticator/devices/webauthn/options": () => ({
      body: {
        options: { challenge: "c".repeat(43), rp: { id: "rmm.example", name: "RMM" }, timeout: 5_000 },
        pageUrl: "https://rmm.example/api/v1/authenticator/page",
      },
    }),
    "POST /authenticator/devices/webauthn/verify": () => ({
      status: 201,
      body: { id: "3f2a9100-0000-4000-8000-000000000001", label: "laptop", isPlatformBound: true, transports: [] },
    }),
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

describe("registering a device", () => {
  it.each(["takes no code", "guesses"])("registers nothing of somebody who reads the address, and %s", async (how) => {
    const ran = await command.run(["approver-devices", "register", "--current-password-stdin"], {
      stdin: "Correct-Horse-7",
      env: {
        ...{ RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
        ...{ DISPLAY: ":0", BROWSER: `${process.execPath} ${join(command.dir, "thief.mjs")} %s ${how.split(" ")[0]}` },
      },
    });
    expect(writesOf(stub).map(({ path }) => path)).not.toContain("/authenticator/devices/webauthn/verify");
    expect([ran.code, ran.stdout]).toEqual([4, ""]);
    expect(ran.stderr).toContain("nothing was registered");
    expect(ran.stderr).toMatch(/^Code to type on the page: \d{6}$/m);
  });
});
