import type { Endpoint } from "#contract/core/endpoint";
import type { agents } from "#contract/resources/fleet/agents";
import { commandTopic } from "#server/features/fleet/device-commands/signals";
import { submitResult as submit } from "#server/features/fleet/device-commands/submit-result";
import type { Call } from "#server/http/call";
import { enqueueJob } from "#server/jobs/queue";
import { cutReport } from "./cut-report.ts";
import { ignoredFields } from "./ignored-fields.ts";
import { ownDevice, refuseDraining } from "./own-device.ts";
import { noteSourceIp } from "./source-ip.ts";

type SubmitCall = typeof agents.submitResult extends Endpoint<infer T> ? Call<T> : never;

/** Takes the answer to a command; a repeat is ignored (docs/fleet.md, "Results of commands"). */
export async function submitResult(call: SubmitCall) {
  const who = ownDevice(call);
  const { commandId } = call.params;
  const answer = await call.transaction(async (own) => {
    await noteSourceIp(call, own, who);
    return call.asSystem("work commands", async (tx) => {
      const submitted = await submit(tx, call.services, {
        commandId,
        deviceId: who.deviceId,
        role: who.credential,
        refuseOther: () => refuseDraining(who),
        report: (type) => cutReport(call.body, type),
      });
      const { command } = submitted;
      call.audit.note({
        resource: { type: "device", id: who.deviceId, name: who.hostname },
        owner: { orgId: who.orgId },
        details: { commandId, type: command.type },
      });
      if (submitted.ignored) {
        call.audit.skip();
        return { success: true as const, ignored: true as const };
      }
      call.audit.note({ details: { status: submitted.ending.status, ...submitted.details } });
      if (command.type === "self_uninstall" && who.orgStatus === "offboarding")
        await enqueueJob(tx, call.services, {
          kind: "organizations.finish-winding-down",
          payload: { orgId: who.orgId },
        });
      return { success: true as const };
    });
  });
  call.services.store.signals.send(commandTopic(commandId));
  return { ...answer, ...ignoredFields(call) };
}
