import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type SmtpSimulator, startSmtp } from "#fixtures/simulators/smtp";
import { MINUTE } from "#server/platform/clock";
import { seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { logIn, seedPerson } from "../../../test/people.ts";

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function serverWith(env: Record<string, string>): Promise<TestServer> {
  const server = await startTestServer(
    "sqlite",
    { PUBLIC_URL: "https://rmm.acme.example/", ...env },
    { realMail: true },
  );
  stops.push(() => server.stop());
  return server;
}

async function forget(server: TestServer): Promise<string> {
  const { orgIds } = await seedPartner(server, "acme", ["harbor"]);
  const { email } = await seedPerson(server, { role: "Org Admin", orgId: orgIds[0] as string });
  await server.request("POST", "/auth/forgot-password", { body: { email } });
  return email;
}

/** Quoted-printable as nodemailer writes it, undone. */
const plain = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");

describe("a reset mail", () => {
  it("arrives by SMTP, after a refusal too, with a link that works", async () => {
    const smtp: SmtpSimulator = await startSmtp();
    stops.push(() => smtp.stop());
    smtp.refuseNext(1);
    const server = await serverWith({
      SMTP_HOST: "127.0.0.1",
      SMTP_PORT: String(smtp.port),
      SMTP_FROM: "rmm@acme.example",
    });
    const email = await forget(server);
    const outbox = () => server.db.selectFrom("mailOutbox").selectAll().executeTakeFirst();
    await expect.poll(async () => (await outbox())?.lastError, { timeout: 10_000 }).toContain("try again later");
    expect(smtp.received).toEqual([]);
    server.clock.advance(MINUTE);
    await expect.poll(() => smtp.received.length, { timeout: 10_000 }).toBe(1);
    const [mail] = smtp.received;
    expect(mail).toMatchObject({ from: "rmm@acme.example", to: [email] });
    const token = /https:\/\/rmm\.acme\.example\/reset-password#token=([A-Za-z0-9_-]{48})/.exec(
      plain(mail?.raw ?? ""),
    )?.[1];
    const reset = await server.request("POST", "/auth/reset-password", { body: { token, password: "Mailed-Horse-9" } });
    expect(reset.body).toEqual({ success: true });
    expect((await logIn(server, email, "Mailed-Horse-9")).status).toBe(200);
    await expect.poll(outbox).toMatchObject({ status: "sent", bodySealed: null, attempts: 2 });
  });

  it("goes into the file outbox, for its owner's eyes only, where no mail server is configured", async () => {
    const server = await serverWith({});
    const email = await forget(server);
    const file = join(server.services.config.dataDir, "mail-outbox.ndjson");
    await expect
      .poll(() => statSync(file, { throwIfNoEntry: false })?.size ?? 0, { timeout: 10_000 })
      .toBeGreaterThan(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ to: email, subject: "Reset your password" });
  });
});
