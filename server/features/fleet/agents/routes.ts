import { agents } from "#contract/resources/fleet/agents";
import { implement } from "#server/http/implement";
import { enrollAgent } from "./enroll.ts";
import { heartbeat } from "./heartbeat.ts";
import { rotateToken } from "./rotate-token.ts";

export const routes = implement(agents, { enroll: enrollAgent, heartbeat, rotateToken });
