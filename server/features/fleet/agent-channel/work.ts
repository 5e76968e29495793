import { agents } from "#contract/resources/fleet/agents";
import type { AgentPrincipal } from "#server/access/principal";
import { claimWaiting } from "#server/features/fleet/agents/claim";
import { heartbeatAlone } from "#server/features/fleet/agents/heartbeat";
import { type HeartbeatCall, recordMain } from "#server/features/fleet/agents/heartbeat-main";
import { ownDevice } from "#server/features/fleet/agents/own-device";
import { submitResult } from "#server/features/fleet/agents/submit-result";
import { type Claim, putBack } from "#server/features/fleet/device-commands/claim-commands";
import { noteConnection } from "#server/features/fleet/devices/note-connection";
import { aliveStatus } from "#server/features/fleet/devices/presence";
import type { Call } from "#server/http/call";
import type { Implementation } from "#server/http/implement";
import { after, SECOND } from "#server/platform/clock";

/** A connection alone moves `lastSeenAt` no more often than this. */
const SEEN_EVERY_MS = 30 * SECOND;

/** What a connection does runs as the endpoint that does the same over HTTP: it declares the events and the audit action. */
const as = (endpoint: Implementation["endpoint"], handler: Implementation["handler"]): Implementation => ({
  endpoint,
  handler,
});

export const takeHeartbeat = as(agents.heartbeat, heartbeatAlone);
export const takeResult = as(agents.submitResult, submitResult);

/** A sign of life without a report: the agent has connected or answered a ping. */
export const noteAlive = as(agents.heartbeat, (call: HeartbeatCall) =>
  call.transaction(async (tx) => {
    const who = ownDevice(call);
    if (isNews(who, call)) await recordMain(call, tx, who);
  }),
);

/** The same of a connection that has just begun. */
export const noteConnected = (connectionId: string) =>
  as(agents.heartbeat, (call: HeartbeatCall) =>
    call.transaction(async (tx) => {
      const who = ownDevice(call);
      if (isNews(who, call)) await recordMain(call, tx, who);
      await noteConnection(tx, who.deviceId, connectionId);
    }),
  );

const isNews = ({ device }: AgentPrincipal, { ip, clock }: Call): boolean =>
  aliveStatus[device.status] !== device.status ||
  device.lastSeenIp !== ip ||
  device.mainAgentSilentSince !== null ||
  (device.lastSeenAt ?? "") <= after(clock.now(), -SEEN_EVERY_MS);

export const claimAll = as(
  agents.claim,
  (call: Call): Promise<Claim[]> => claimWaiting(call, ownDevice(call as Parameters<typeof ownDevice>[0])),
);

export const putAllBack = (claims: readonly Claim[]) =>
  as(agents.claim, (call: Call) => call.transaction((tx) => putBack(tx, call.services, claims)));
