import type { Endpoint } from "#contract/core/endpoint";
import type { securityPosture } from "#contract/resources/security/security-posture";
import { unseen } from "#server/access/site-access";
import { prepared } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { deviceView, shownColumns } from "./device-view.ts";

type DeviceCall = typeof securityPosture.ofDevice extends Endpoint<infer T> ? Call<T> : never;

/** Of every device that the caller reaches, whether it has reported or not (docs/security.md, "Status"). */
export async function showStatus(call: DeviceCall) {
  const { deviceId: id } = call.params;
  const row = await byId(call.db, { id });
  if (!row) throw await unseen(call, "devices", id);
  return deviceView(row);
}

const byId = prepared(["id"], (db, at) =>
  db
    .selectFrom("devices")
    .leftJoin("deviceSecurity as security", (join) =>
      join.onRef("security.orgId", "=", "devices.orgId").onRef("security.deviceId", "=", "devices.id"),
    )
    .select(shownColumns)
    .where("devices.id", "=", at.id),
);
