import { expect } from "vitest";
import { totpCode } from "#server/features/sign-in/mfa/rules";
import { MINUTE } from "#server/platform/clock";
import { seedPerson } from "../people.ts";
import { caseOf } from "./cases.ts";
import { planted, type SecretRun } from "./secret-run.ts";

/** Sequences of calls in which people and devices use real secrets. */
export async function liveOutStories(run: SecretRun): Promise<void> {
  await personWithSecondFactor(run);
  await deviceWithTokens(run);
}

async function personWithSecondFactor(run: SecretRun): Promise<void> {
  const { server } = run.swept;
  const code = (secret: string) => {
    server.clock.advance(6 * MINUTE);
    return totpCode(secret, server.clock.nowMs());
  };
  const password = `Aa1-${planted("password")}`;
  run.ledger.add("password", password);
  const person = { role: "Org Admin", orgId: run.tenant.orgId, mfa: false };
  const { email, userId } = await seedPerson(server, person, password);
  const signedIn = await run.succeed("sessions.login", { body: { email, password } });
  await run.succeed("sessions.refresh", { body: { refreshToken: signedIn.refreshToken } });
  const { accessToken: token } = signedIn;
  const pending = await run.succeed("mfa.setup", { token, body: { currentPassword: password } });
  run.ledger.add("stored factor", pending.secret);
  const first = { code: totpCode(pending.secret, server.clock.nowMs()) };
  const enabled = await run.succeed("mfa.enable", { token, body: first });
  const half = await run.succeed("sessions.login", { body: { email, password } });
  const byRecovery = { tempToken: half.tempToken, code: enabled.recoveryCodes[0], method: "recovery" };
  const whole = await run.succeed("mfa.verify", { body: byRecovery });
  await run.succeed("mfa.stepUp", { token: whole.accessToken, body: { code: code(pending.secret) } });
  await run.succeed("mfa.recoveryCodes", { token: whole.accessToken, body: { currentPassword: password } });
  const newPassword = `Aa1-${planted("new-password")}`;
  const change = { currentPassword: password, newPassword };
  const changed = await run.succeed("passwords.change", { token: whole.accessToken, body: change });
  await run.succeed("passwords.forgot", { body: { email } });
  const mailed = await run.swept.mailedToken(email);
  run.ledger.add("mailed token", mailed);
  await run.succeed("passwords.reset", { body: { token: mailed, password: `Aa1-${planted("reset-password")}` } });
  expect((await run.send(caseOf("users.me"), { token: changed.accessToken })).status).toBe(401);
  await run.send(caseOf("sessions.login"), { body: { email, password } });
  const row = await server.db.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirstOrThrow();
  expect(row.mfaSecret, "the story stored no factor").not.toBeNull();
}

async function deviceWithTokens(run: SecretRun): Promise<void> {
  const headers = { "x-api-key": run.tenant.partnerKey };
  const body = { orgId: run.tenant.orgId, name: "fleet", maxUsage: 5, issueEnrollmentSecret: true };
  const minted = await run.succeed("partnerApi.createEnrollmentKey", { headers, body });
  const enrolment = {
    ...(caseOf("agents.enroll").example(run.tenant).body as object),
    enrollmentKey: minted.key,
    enrollmentSecret: minted.enrollmentSecret,
  };
  const wrong = { ...enrolment, enrollmentSecret: planted("wrong-enrollment-secret") };
  expect((await run.send(caseOf("agents.enroll"), { body: wrong })).status).toBe(403);
  const device = await run.succeed("agents.enroll", { body: enrolment });
  const params = { id: device.deviceId };
  await run.succeed("agents.heartbeat", { token: device.agentToken, params });
  await run.succeed("agents.rotateToken", { token: device.agentToken, params });
}
