import type { Endpoint } from "#contract/core/endpoint";
import type { customFields } from "#contract/resources/fleet/custom-fields";
import type { Call } from "#server/http/call";
import { getField } from "./queries.ts";

type GetCall = typeof customFields.get extends Endpoint<infer T> ? Call<T> : never;

export const showField = (call: GetCall) => getField(call.db, call.params.id);
