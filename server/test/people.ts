import { totpCode } from "#server/features/sign-in/mfa/rules";
import { MINUTE } from "#server/platform/clock";
import { cheapHash } from "./cheap-password.ts";
import type { SignedInUser, TestServer, TestUser } from "./harness.ts";

export const PASSWORD = "Correct-Horse-7";

/** A signed-in user who also has a password. */
export async function seedPerson(server: TestServer, user: TestUser, password = PASSWORD): Promise<SignedInUser> {
  const person = await server.signIn(user);
  const passwordHash = await cheapHash(password);
  await server.db.updateTable("users").set({ passwordHash }).where("id", "=", person.userId).execute();
  return person;
}

export const logIn = (server: TestServer, email: string, password = PASSWORD, headers: Record<string, string> = {}) =>
  server.request("POST", "/auth/login", { body: { email, password }, headers });

export interface Enrolled {
  secret: string;
  recoveryCodes: string[];
  token: string;
  refreshToken: string;
}

/** Enables a second factor through the API, which uses the code of the current time step. */
export async function enrol(server: TestServer, token: string, currentPassword = PASSWORD): Promise<Enrolled> {
  const { body: setup } = await server.request("POST", "/auth/mfa/setup", { token, body: { currentPassword } });
  const code = totpCode(setup.secret, server.clock.nowMs());
  const enabled = await server.request("POST", "/auth/mfa/enable", { token, body: { code } });
  if (enabled.status !== 200) throw new Error(`enrolment failed: ${JSON.stringify(enabled.body)}`);
  const { recoveryCodes, accessToken, refreshToken } = enabled.body;
  return { secret: setup.secret, recoveryCodes, token: accessToken, refreshToken };
}

/** An unused code: advances the clock to the next time step. */
export function freshCode(server: TestServer, secret: string): string {
  server.clock.advance(MINUTE);
  return totpCode(secret, server.clock.nowMs());
}
