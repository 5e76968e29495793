import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import { requireReauth } from "#server/features/access-control/core/reauth";
import { activeDevicesOf, disableApproverDevice } from "#server/features/people/core/approver-devices";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { type Call, user } from "#server/http/call";
import { queueMail } from "#server/jobs/mail-queue";
import { problem } from "#server/problem";

import { deviceMail } from "./device-mail.ts";

type RemoveCall = typeof approverDevices.remove extends Endpoint<infer T> ? Call<T> : never;

/** Disables a device of the caller for good. Nobody else's can be named. */
export async function removeDevice(call: RemoveCall) {
  await requireHomeSession(call);
  const { userId, email } = user(call);
  const devices = await call.readAsSystem("sign-in", (db) => activeDevicesOf(db, userId));
  const device = devices.find(({ id }) => id === call.params.id);
  if (!device) throw problem("NOT_FOUND");
  const { id, label } = device;
  call.audit.note({ resource: { type: "approver_device", id, name: label } });
  const { currentPassword, mfaCode } = call.body;
  await requireReauth(call, { reauthPassword: currentPassword, reauthMfaCode: mfaCode });
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      if (!(await disableApproverDevice(tx, device, call.clock.now()))) throw problem("NOT_FOUND");
      await queueMail(tx, call.services, deviceMail({ to: email, label, happened: "removed" }));
      return { success: true as const };
    }),
  );
}
