import type { RoomHooks } from "#server/room-hooks";
import { dropUnreached } from "./drop-unreached.ts";
import { tellOfBrokenChain } from "./tell-of-broken-chain.ts";
import { tellOfFailedWebhook } from "./tell-of-failed-webhook.ts";

export const hooks: RoomHooks = {
  onUserRemoved: dropUnreached,
  onChainBroken: tellOfBrokenChain,
  onWebhookFailed: tellOfFailedWebhook,
};
