import type { Limit } from "#server/access/rate-limit";
import type { Call } from "#server/http/call";
import { clientBlock } from "#server/platform/ip-address";

/** Counts failed sign-ins only (docs/sign-in.md, "Guessing"). */
const loginPerAddressAndEmail: Limit = { name: "login-email", max: 5, windowSeconds: 300 };
export const loginPerAddress: Limit = { name: "login-ip", max: 30, windowSeconds: 300 };

/** The limits of every endpoint that takes a person's password without a session. */
export function loginLimits(call: Pick<Call, "ip">, email: string) {
  const address = clientBlock(call.ip);
  return [
    [loginPerAddress, address],
    [loginPerAddressAndEmail, `${address} ${email}`],
  ] as const;
}
