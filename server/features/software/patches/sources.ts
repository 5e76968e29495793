import type { Endpoint } from "#contract/core/endpoint";
import { type patches, patchSources } from "#contract/resources/software/patches";
import type { DialectName } from "#server/db/dialect/index";
import { preparedRows } from "#server/db/prepared";
import type { Call } from "#server/http/call";
import { type Asked, grouped, withFacts } from "./queries.ts";

type SourcesCall = typeof patches.sources extends Endpoint<infer T> ? Call<T> : never;

const names: Readonly<Record<(typeof patchSources)[number], string>> = {
  microsoft: "Microsoft",
  apple: "Apple",
  linux: "Linux",
  third_party: "Third party",
  custom: "Custom",
};

/** Sources that devices within reach have reported patches of. */
export async function listSources(call: SourcesCall) {
  const { os } = call.query;
  const rows = await sourcesOf(call.db, { os }, { dialect: call.services.store.dialect });
  const found = new Map(rows.map((row) => [row.source, row]));
  const data = patchSources.flatMap((id) => {
    const row = found.get(id);
    if (!row) return [];
    const systems = (["windows", "macos", "linux"] as const).filter((one) => Number(row[one]) > 0);
    return [
      { id, name: names[id], os: systems, patchCount: Number(row.patchCount), pendingCount: Number(row.pendingCount) },
    ];
  });
  return { data };
}

const sourcesOf = preparedRows((db, asked: Asked, { dialect }: { dialect: DialectName }) =>
  db
    .selectFrom(withFacts(grouped(db, asked, dialect)).as("each"))
    .groupBy("each.bySource")
    .select((eb) => [
      "each.bySource as source",
      eb.fn.countAll<number>().as("patchCount"),
      eb.fn
        .sum<number>(eb.case().when("each.pendingDeviceCount", ">", eb.lit(0)).then(eb.lit(1)).else(eb.lit(0)).end())
        .as("pendingCount"),
      eb.fn.sum<number>("each.windows").as("windows"),
      eb.fn.sum<number>("each.macos").as("macos"),
      eb.fn.sum<number>("each.linux").as("linux"),
    ]),
);
