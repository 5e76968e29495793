import { pamConfig } from "#contract/resources/access-control/pam-config";
import { implement } from "#server/http/implement";
import { getConfig } from "./get.ts";
import { replaceConfig } from "./replace.ts";

export const routes = implement(pamConfig, { get: getConfig, replace: replaceConfig });
