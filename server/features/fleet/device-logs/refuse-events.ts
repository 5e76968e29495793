import type { AgentPrincipal } from "#server/access/principal";
import type { Allowance } from "#server/access/rate-limit";
import { toldOfDevice } from "#server/features/fleet/devices/told-of-device";
import { notify } from "#server/features/people/notifications/notify";
import type { Call } from "#server/http/call";
import { Problem } from "#server/problem";
import { refusalTold } from "./limits.ts";

/** What became of asking for as many events. */
type Taken = Readonly<Record<"organization" | "device", Allowance>>;

/** Says how many events may be sent now, and when more may. */
export class OverLimit extends Problem {
  /** Whose limit it is. */
  readonly of: keyof Taken;
  readonly limit: number;

  constructor({ clock }: Pick<Call, "clock">, taken: Taken, asked: number) {
    // What a limit allowed goes back with the transaction.
    const left = (of: keyof Taken) => taken[of].remaining + (taken[of].allowed ? asked : 0);
    const of = left("device") <= left("organization") ? "device" : "organization";
    const { limit, resetAtMs } = taken[of];
    super("RATE_LIMITED", {
      message: "Rate limit exceeded",
      beside: { remaining: left(of), resetAt: new Date(resetAtMs).toISOString() },
      retryAfterSeconds: Math.max(1, Math.ceil((resetAtMs - clock.nowMs()) / 1_000)),
    });
    this.of = of;
    this.limit = limit;
  }
}

/** The first refusal of an hour is recorded, and told to whoever may change the device. */
export async function tellOfRefusal(call: Call, who: AgentPrincipal, { of, limit }: OverLimit): Promise<void> {
  const subject = of === "device" ? who.deviceId : who.orgId;
  await call.transaction(() =>
    call.asSystem("tell of suspect agents", async (all) => {
      const first = await call.services.limiter.takeWithin(all, refusalTold, subject);
      if (!first.allowed) return call.audit.skip();
      const { place, name } = await toldOfDevice(all, who.deviceId);
      const resource = { type: "device", id: who.deviceId, name: who.hostname };
      call.audit.note({ resource, result: "denied", details: { reason: "rate_limited", limit, of } });
      await notify(all, call.services, { ...noticeOf(of, limit, name.deviceName), ...aboutOf(of, place, who) });
    }),
  );
}

const aboutOf = (of: keyof Taken, place: { orgId: string; siteId: string | null }, { deviceId }: AgentPrincipal) => ({
  about: of === "device" ? place : { orgId: place.orgId, siteId: null },
  link: `/devices/${deviceId}`,
  metadata: { deviceId, of },
});

const noticeOf = (of: keyof Taken, limit: number, deviceName: string) =>
  ({
    to: { holding: "devices:write" },
    type: "system",
    priority: "normal",
    title: of === "device" ? `${deviceName} logs too much` : "Devices log too much",
    message:
      of === "device"
        ? `More events came within an hour than the ${limit} that are stored of one device. What comes beyond is not stored.`
        : `More events came within an hour than the ${limit} that are stored of the organization. What comes beyond is not stored; the last came from ${deviceName}.`,
  }) as const;
