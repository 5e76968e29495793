import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import { held } from "#server/db/dialect/locks";
import { isUniqueViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import { takeRegistration } from "#server/features/people/core/approver-challenges";
import { activeDevicesOf, addApproverDevice } from "#server/features/people/core/approver-devices";
import type { SignInUser } from "#server/features/people/core/find-user";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { ownAccount } from "#server/features/sign-in/core/own-account";
import { type Call, user } from "#server/http/call";
import { queueMail } from "#server/jobs/mail-queue";
import { problem } from "#server/problem";
import { deviceMail } from "./device-mail.ts";
import { readRegistration } from "./read-registration.ts";
import { relyingParty } from "./relying-party.ts";
import { DEVICES_MAX } from "./rules.ts";
import { shownDevice } from "./shown-device.ts";

type VerifyCall = typeof approverDevices.verify extends Endpoint<infer T> ? Call<T> : never;

/**
 * Keeps the device that answered. The challenge is used up by the first attempt whatever becomes of it, in a
 * transaction of its own.
 */
export async function registerDevice(call: VerifyCall) {
  await requireHomeSession(call);
  const party = relyingParty(call.config);
  const account = await ownAccount(call);
  const { userId, sessionId } = user(call);
  const challengeHash = await call.asSystem("sign-in", (tx) =>
    takeRegistration(tx, { userId, sessionId }, call.clock.now()),
  );
  if (challengeHash === undefined) throw ended();
  const credential = await readRegistration(party, call.body.response, challengeHash);
  return call.transaction(() => call.asSystem("sign-in", (tx) => keep(call, tx, { account, credential })));
}

/** Of this session, or what it rests on. */
const ended = () => problem("INVALID_TOKEN", { message: "The registration has ended: begin again" });

interface Kept {
  readonly account: SignInUser;
  readonly credential: Awaited<ReturnType<typeof readRegistration>>;
}

async function keep(call: VerifyCall, tx: Tx, { account, credential }: Kept) {
  await holdUnchanged(call, tx, account);
  const devices = await activeDevicesOf(tx, account.id);
  if (devices.length >= DEVICES_MAX) throw problem("LIMIT_REACHED", { details: { limit: DEVICES_MAX } });
  const { label = "Approver device" } = call.body;
  const device = {
    ...{ id: call.random.uuid(), userId: account.id, ...credential, label },
    ...{ createdAt: call.clock.now(), lastUsedAt: null, disabledAt: null },
  };
  call.audit.note({
    resource: { type: "approver_device", id: device.id, name: label },
    details: { isPlatformBound: device.isPlatformBound },
  });
  try {
    await addApproverDevice(tx, device);
  } catch (error) {
    if (isUniqueViolation(error)) throw problem("DUPLICATE", { cause: error });
    throw error;
  }
  await queueMail(tx, call.services, deviceMail({ to: account.email, label, happened: "registered" }));
  return shownDevice(device);
}

/**
 * Holds the person, so that parallel registrations are counted one after the other. Whoever lost factor, password or
 * account since the call began registers nothing: the loss has just disabled what there was.
 */
async function holdUnchanged({ services }: VerifyCall, tx: Tx, account: SignInUser): Promise<void> {
  const { passwordHash, mfaSecret, emailVerifiedAt, status } = account;
  const person = tx
    .selectFrom("users")
    .select("id")
    .where("id", "=", account.id)
    .where("passwordHash", "is not distinct from", passwordHash)
    .where("mfaSecret", "is not distinct from", mfaSecret)
    .where("emailVerifiedAt", "is not distinct from", emailVerifiedAt)
    .where("status", "=", status);
  const found = await held(person, services.store.dialect).executeTakeFirst();
  if (!found) throw ended();
}
