import { agent } from "#contract/core/access";
import type { Upgrade } from "#server/http/upgrade";
import { openAgentChannel } from "./channel.ts";

export const upgrades: readonly Upgrade[] = [{ path: "/agents/:id/ws", access: agent(), open: openAgentChannel }];
