import type { Endpoint } from "#contract/core/endpoint";
import type { patches } from "#contract/resources/software/patches";
import type { DialectName } from "#server/db/dialect/index";
import { word } from "#server/db/dialect/text";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { grouped, view, withFacts, wordsOf } from "./queries.ts";

type GetCall = typeof patches.get extends Endpoint<infer T> ? Call<T> : never;

const DEVICES_MAX = 200;

/** NOT_FOUND of a patch on none of the devices within reach, whoever else has it. */
export async function showPatch(call: GetCall) {
  const { id } = call.params;
  const { dialect } = call.services.store;
  const [[facts], [words], devices] = await Promise.all([
    factsOf(call.db, { id }, { dialect }),
    wordsOf(call.db, { ids: [id], id }, null),
    devicesOf(call.db, { id }, null),
  ]);
  if (!facts || !words) throw problem("NOT_FOUND");
  return { ...view(facts, words), devices };
}

const factsOf = preparedRows((db, { id }: { id: string }, { dialect }: { dialect: DialectName }) =>
  withFacts(grouped(db, { id }, dialect)),
);

const devicesOf = preparedRows((db, { id }: { id: string }) =>
  db
    .selectFrom("devicePatches")
    .innerJoin("devices", "devices.id", "devicePatches.deviceId")
    .where("devicePatches.patchId", "=", id)
    .select(["devicePatches.deviceId", "devices.hostname", "devicePatches.status", "devicePatches.installedAt"])
    .orderBy(
      (eb) => eb.case().when("devicePatches.status", "=", word("pending")).then(eb.lit(0)).else(eb.lit(1)).end(),
      "asc",
    )
    .orderBy("devices.hostnameKey")
    .orderBy("devices.id")
    .limit((eb) => eb.lit(DEVICES_MAX)),
);
