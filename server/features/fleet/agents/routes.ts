import { agents } from "#contract/resources/fleet/agents";
import { implement } from "#server/http/implement";
import { claim } from "./claim.ts";
import { enrollAgent } from "./enroll.ts";
import { heartbeat } from "./heartbeat.ts";
import { rotateToken } from "./rotate-token.ts";
import { submitResult } from "./submit-result.ts";

export const routes = implement(agents, { enroll: enrollAgent, heartbeat, claim, submitResult, rotateToken });
