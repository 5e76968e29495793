import type { Endpoint } from "#contract/core/endpoint";
import type { mfa } from "#contract/resources/sign-in/mfa";
import { lockRow } from "#server/db/dialect/locks";
import { confirmPassword } from "#server/features/sign-in/core/confirm-password";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import type { Call } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { problem } from "#server/problem";
import { storeRecoveryCodes } from "./factor.ts";
import { newRecoveryCodes } from "./rules.ts";

type Types = typeof mfa.recoveryCodes extends Endpoint<infer T> ? T : never;
type RecoveryCodesCall = Call<Types>;

/** Replaces all recovery codes; the old ones stop, used or not. No transaction waits while the password is judged. */
export const rotateRecoveryCodes = afterAsking<Types, Account>(confirmOwner, replaceCodes);

type Account = Awaited<ReturnType<typeof ownAccount>>;

async function confirmOwner(call: RecoveryCodesCall): Promise<Account> {
  await requireHomeSession(call);
  const account = await ownAccount(call);
  if (account.mfaSecret === null) throw problem("MFA_NOT_ENABLED", { onReplay: "refuses" });
  await confirmPassword(call, account, call.body.currentPassword);
  return account;
}

async function replaceCodes(call: RecoveryCodesCall, account: Account) {
  const recoveryCodes = newRecoveryCodes(call.random);
  await call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      await lockRow(tx, call.services.store.dialect, "users", account.id);
      await storeRecoveryCodes(call, tx, account.id, recoveryCodes);
      call.audit.note({ details: { count: recoveryCodes.length } });
    }),
  );
  return { recoveryCodes };
}
