import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const TOKEN = "t".repeat(48);
const command = testCommand();
let stub: Stub;
let link: string | null;
let known: boolean;
let ended: boolean;
beforeAll(async () => {
  const user = { id: "u", email: "pat@msp.example", scope: "partner" };
  const tokens = { accessToken: "access-1", refreshToken: "refresh-1", tokenType: "Bearer", expiresIn: 900 };
  stub = await stubApi({
    "POST /users/invite": ({ body }) =>
      known ? refusal(409, "USER_EXISTS") : { status: 201, body: { id: "i", ...(body as object), inviteUrl: link } },
    "GET /users": (_seen, query) => paged([{ id: ids.hq, email: "pat@msp.example", name: "Pat" }], query),
    "POST /users/resend-invite": () => ({ body: { success: true, inviteUrl: link } }),
    "POST /auth/invite/preview": () =>
      ended
        ? refusal(400, "INVALID_INVITE")
        : { body: { email: "pat@msp.example", name: "Pat", partnerName: "Summit" } },
    "POST /auth/reset-password": () => ({ body: { success: true } }),
    "POST /auth/change-password": () => ({ body: tokens }),
    "POST /auth/accept-invite": () => ({ body: { mfaRequired: false, ...tokens, mfaEnrollmentRequired: true, user } }),
  });
});
beforeEach(() => {
  link = `${stub.url}/accept-invite#token=${TOKEN}`;
  known = false;
  ended = false;
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

const accept = ["users", "accept-invite", "--store=file"];
const PASSWORD = "Correct-Horse-9";

it("takes the link that is pasted where the command asks, says whose it is, asks the password twice, and signs in", async () => {
  const asked: string[] = [];
  const answers = [link as string, PASSWORD, PASSWORD];
  const ran = await command.run([...accept, "--server", stub.url], { tty: true, answers, asked });
  expect(asked).toEqual([expect.stringContaining("link"), "password", "password again"]);
  expect(ran.stderr).toMatch(/^pat@msp.example is invited to Summit\npassword \(.*8 to 128 characters/);
  expect(ran.code, ran.stderr).toBe(0);
  expect(writesOf(stub).at(-1)?.body).toMatchObject({ token: TOKEN, password: PASSWORD });
  expect(ran.stderr).toContain("Signed in");
  expect(ran.stdout + ran.stderr).not.toContain(TOKEN);
});

it("judges the link before a password is asked for it, however it was given", async () => {
  ended = true;
  const file = join(command.dir, "link");
  writeFileSync(file, `${link}\n`);
  for (const [more, answers] of [
    [[], [link as string]],
    [["--link-file", file], []],
  ] as const) {
    const asked: string[] = [];
    const ran = await command.run([...accept, ...more, "--server", stub.url], { tty: true, answers, asked });
    expect([ran.code === 0, ran.stderr]).toEqual([false, expect.stringContaining("INVALID_INVITE")]);
    expect(asked).toHaveLength(answers.length);
    expect(stub.seen.map(({ path }) => path)).not.toContain("/api/v1/auth/accept-invite");
  }
  const script = await command.run([...accept, "--server", stub.url]);
  expect(script.stderr).toContain("--link-file or --link-stdin, --password-file or --password-stdin");
});

it("a password that is mistyped is not set: one that comes with a link, and a new one", async () => {
  for (const [argv, answers] of [
    [accept, [link as string, PASSWORD, "Correct-Horse-8"]],
    [
      ["passwords", "reset"],
      [link as string, PASSWORD, "Correct-Horse-8"],
    ],
    [
      ["passwords", "change"],
      ["Old-Horse-1", PASSWORD, "Correct-Horse-8"],
    ],
  ] as const) {
    stub.seen.length = 0;
    const ran = await command.run(argv, { tty: true, answers, env: env() });
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("The passwords differ")]);
    expect(stub.seen.filter(({ path }) => !path.endsWith("/preview"))).toEqual([]);
    stub.seen.length = 0;
    const right = await command.run(argv, { tty: true, answers: [answers[0], PASSWORD, PASSWORD], env: env() });
    expect(right.code, right.stderr).toBe(0);
  }
});

it("who is invited already is not invited again: the command that sends another link is named, and takes the address", async () => {
  known = true;
  const again = await command.run([...invite, "--org", ids.contoso], { env: env() });
  const [, typed = ""] = /`(rmm users resend-invite [^`]+)`/.exec(again.stderr) ?? [];
  expect([again.code, typed]).toEqual([6, `rmm users resend-invite --user pat@msp.example --org ${ids.contoso}`]);
  stub.seen.length = 0;
  const sent = await command.run(typed.split(" ").slice(1), { env: env() });
  expect(sent).toMatchObject({ code: 0, stdout: `${link}\n` });
  expect(writesOf(stub)[0]?.body).toEqual({ userId: ids.hq, orgId: ids.contoso });
  const list = await command.run(["users", "invite", "--role", "partner admin", "-f", "-", "--json"], {
    env: env(),
    stdin: '[{"email":"pat@msp.example","name":"Pat"}]',
  });
  expect(JSON.parse(list.stdout)[0].error.hint).toContain("resend-invite --user");
});
