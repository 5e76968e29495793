import { securityPosture } from "#contract/resources/security/security-posture";
import { implement } from "#server/http/implement";
import { listStatus } from "./list.ts";
import { showStatus } from "./of-device.ts";

export const routes = implement(securityPosture, { list: listStatus, ofDevice: showStatus });
