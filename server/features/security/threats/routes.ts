import { threats } from "#contract/resources/security/threats";
import { implement } from "#server/http/implement";
import { listThreats } from "./list.ts";
import { listThreatsOfDevice } from "./of-device.ts";

export const routes = implement(threats, { list: listThreats, ofDevice: listThreatsOfDevice });
