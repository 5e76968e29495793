import { tags } from "#contract/resources/fleet/tags";
import { implement } from "#server/http/implement";
import { listTaggedDevices } from "./devices.ts";
import { listTags } from "./list.ts";

export const routes = implement(tags, { list: listTags, devices: listTaggedDevices });
