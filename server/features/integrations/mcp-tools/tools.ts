import type { ToolInput } from "#contract/core/tools";
import { setValues } from "#server/features/fleet/custom-fields/set-values";
import { showValues } from "#server/features/fleet/custom-fields/values";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import { queueFor, refused } from "#server/features/fleet/device-commands/queue";
import { showDevice } from "#server/features/fleet/devices/get";
import { listDevices } from "#server/features/fleet/devices/list";
import { previewFilter } from "#server/features/fleet/saved-filters/preview";
import { findDevicesByName } from "#server/features/fleet/search/find";
import { listSites } from "#server/features/tenancy/sites/list";
import type { Call } from "#server/http/call";
import { ROWS_MAX, readMetrics, readPendingPatches, readSoftware } from "./device-reads.ts";
import { readExecution } from "./read-execution.ts";
import { asked, reading, type Tools } from "./tool.ts";

type Of<H extends (call: never) => unknown> = Parameters<H>[0];

const sendCommand = (call: Call, { deviceId, type }: ToolInput<"send_device_command">) =>
  call.transaction(async (tx) => {
    const device = await getTarget(call, tx, deviceId);
    const queued = await queueFor(call, tx, { device, type, payload: {} });
    if ("code" in queued) throw refused(queued);
    return queued;
  });

/** Each tool does what the endpoint of the same kind does, for the key's organization (docs/mcp.md, "Tools"). */
export const runs: Tools = {
  list_devices: reading((call, { page, limit, ...filters }) => {
    const query = { ...filters, page: String(page), limit: String(limit) };
    return listDevices(asked<Of<typeof listDevices>>(call, { query }));
  }),
  get_device: reading((call, { deviceId }) =>
    showDevice(asked<Of<typeof showDevice>>(call, { params: { id: deviceId } })),
  ),
  find_devices: reading(async (call, { conditions, limit }) => {
    const body = { conditions, limit };
    return (await previewFilter(asked<Of<typeof previewFilter>>(call, { body }))).data;
  }),
  get_device_metrics: reading(readMetrics),
  get_device_software: reading(readSoftware),
  get_device_custom_fields: reading((call, { deviceId }) =>
    showValues(asked<Of<typeof showValues>>(call, { params: { id: deviceId } })),
  ),
  set_device_custom_fields: {
    tier: () => 2,
    run: (call, { deviceId, values }) =>
      setValues(asked<Of<typeof setValues>>(call, { params: { id: deviceId }, body: values })),
  },
  search: reading((call, { q, limit }) => findDevicesByName(call, q, limit)),
  list_sites: reading((call) =>
    listSites(
      asked<Of<typeof listSites>>(call, { query: { page: 1, limit: ROWS_MAX } as Of<typeof listSites>["query"] }),
    ),
  ),
  send_device_command: { tier: ({ type }) => (type === "reboot" ? 3 : 2), run: sendCommand },
  list_pending_patches: reading(readPendingPatches),
  get_tool_execution: reading(readExecution),
};
