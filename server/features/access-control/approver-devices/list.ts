import { activeDevicesOf } from "#server/features/people/core/approver-devices";
import { requireHomeSession } from "#server/features/sign-in/core/home-session";
import { type Call, user } from "#server/http/call";
import { shownDevice } from "./shown-device.ts";

/** The caller's own that count; in a home session alone, as all that belongs to the person. */
export async function listDevices(call: Call) {
  await requireHomeSession(call);
  const devices = await call.readAsSystem("sign-in", (db) => activeDevicesOf(db, user(call).userId));
  return { data: devices.map(shownDevice) };
}
