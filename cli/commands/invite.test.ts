import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const TOKEN = "t".repeat(48);
const command = testCommand();
let stub: Stub;
let link: string | null;
beforeAll(async () => {
  const user = { id: "u", email: "pat@msp.example", scope: "partner" };
  const tokens = { accessToken: "access-1", refreshToken: "refresh-1", tokenType: "Bearer", expiresIn: 900 };
  stub = await stubApi({
    "POST /users/invite": ({ body }) => ({ status: 201, body: { id: "i", ...(body as object), inviteUrl: link } }),
    "POST /auth/accept-invite": () => ({ body: { mfaRequired: false, ...tokens, mfaEnrollmentRequired: true, user } }),
  });
});
beforeEach(() => {
  link = `${stub.url}/accept-invite#token=${TOKEN}`;
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const invite = ["users", "invite", "--email", "pat@msp.example", "--name", "Pat", "--role", "partner admin"];
const env = () => ({ RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" });

it("prints the link and the command that takes it, with the server that made it; nothing where a mail went out", async () => {
  const ran = await command.run(invite, { env: env() });
  expect(ran).toMatchObject({ code: 0, stdout: `${link}\n` });
  expect(ran.stderr).toContain(`rmm users accept-invite --server ${stub.url}`);
  link = null;
  expect((await command.run(invite, { env: env() })).stderr).not.toContain("accept-invite");
});

it("takes the link that is pasted where the command asks, and signs in", async () => {
  const asked: string[] = [];
  const ran = await command.run(["users", "accept-invite", "--server", stub.url, "--store=file"], {
    tty: true,
    answers: [link as string, "Correct-Horse-9"],
    asked,
  });
  expect(asked).toEqual([expect.stringContaining("link"), "password"]);
  expect(ran.stderr).toMatch(/^password \(.*8 to 128 characters/);
  expect(ran.code, ran.stderr).toBe(0);
  expect(writesOf(stub)[0]?.body).toMatchObject({ token: TOKEN, password: "Correct-Horse-9" });
  expect(ran.stderr).toContain("Signed in");
  expect(ran.stdout + ran.stderr).not.toContain(TOKEN);
});
