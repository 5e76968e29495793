import { toDataURL } from "qrcode";
import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { offerFactor } from "#server/features/people/core/second-factor";
import { confirmPassword } from "#server/features/sign-in/core/confirm-password";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import type { Call } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { after } from "#server/platform/clock";
import { problem } from "#server/problem";
import { pendingFor } from "./factor.ts";
import { newRecoveryCodes, newTotpSecret, otpAuthUrl, SETUP_MS } from "./rules.ts";

type Types = typeof mfa.setup extends Endpoint<infer T> ? T : never;
type SetupCall = Call<Types>;
type Account = Awaited<ReturnType<typeof ownAccount>>;

/** What a setup keeps, sealed, until it is confirmed. */
export interface PendingFactor {
  secret: string;
  recoveryCodes: string[];
}

/** Offers a new factor for ten minutes; a newer setup replaces an older one. */
export const setUpMfa = afterAsking<Types, Account>(confirmOwner, offerSetup);

async function confirmOwner(call: SetupCall): Promise<Account> {
  await requireHomeSession(call);
  const account = await ownAccount(call);
  // What was offered is in use by now, and is shown to nobody again.
  if (account.mfaSecret !== null) throw problem("MFA_ALREADY_ENABLED", { onReplay: "refuses" });
  await confirmPassword(call, account, call.body.currentPassword);
  return account;
}

async function offerSetup(call: SetupCall, account: Account) {
  const pending: PendingFactor = {
    secret: newTotpSecret(call.random),
    recoveryCodes: newRecoveryCodes(call.random),
  };
  const url = otpAuthUrl(pending.secret, account.email);
  const qrCodeDataUrl = await toDataURL(url);
  const now = call.clock.now();
  await call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      const sealed = call.services.vault.seal(JSON.stringify(pending), pendingFor(account.id));
      const offered = await offerFactor(tx, account.id, { pending: sealed, expiresAt: after(now, SETUP_MS) });
      if (!offered) throw problem("MFA_ALREADY_ENABLED");
    }),
  );
  return { secret: pending.secret, otpAuthUrl: url, qrCodeDataUrl, recoveryCodes: pending.recoveryCodes };
}
