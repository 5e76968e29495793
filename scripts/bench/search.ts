import type { Bench } from "./bench.ts";
import { type FleetDatabase, largeFleets } from "./large-fleet.ts";
import { get, middleOf } from "./lists-large.ts";

/** A search on a large fleet takes no longer. */
const MS = 10;
/** Searches of each text in a round stay below what a person may ask in a minute. */
const TIMES = 5;

/** Few, many and all devices, none, one word of two and one too short for the index. */
const texts = ["reception 99", "pc-1234", "pc-", "nobody's", "eption", "42"] as const;

/** The middle one of searches on a large fleet, each the middle of its times. */
export function search(database: FleetDatabase): Bench {
  const fleet = largeFleets[database];
  return {
    name: `search: the middle search (${database}) ÷ ${MS} ms`,
    limit: { kind: "max", value: 1 },
    on: fleet,
    async run() {
      const times: number[] = [];
      const person = fleet.person();
      for (const text of texts) {
        const find = () => get(person, `/api/v1/search?q=${encodeURIComponent(text)}`);
        await find();
        const ms = await middleOf(find, TIMES);
        process.stderr.write(`${ms.toFixed(1)} ms  search ${text}\n`);
        times.push(ms);
      }
      const measured = times.sort((a, b) => a - b)[Math.floor(times.length / 2)] as number;
      return { measured, against: MS, unit: "ms" };
    },
  };
}
