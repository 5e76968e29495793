import { request } from "node:http";
import type { Bench } from "./bench.ts";
import { type FleetDatabase, largeFleets } from "./large-fleet.ts";
import { get, HELD_MS, heldMs, middleOf } from "./lists-large.ts";
import type { Target } from "./target.ts";

/** Six previews of each filter in a round stay below what a person may ask in a minute. */
const TIMES = 5;

type Part = readonly [field: string, operator: string, value: unknown];
interface Filter {
  readonly operator: "AND" | "OR";
  readonly conditions: readonly object[];
}

const joined = (operator: "AND" | "OR", ...parts: readonly (Part | Filter)[]): Filter => ({
  operator,
  conditions: parts.map((part) => {
    if (!Array.isArray(part)) return part as Filter;
    const [field, operator, value] = part as Part;
    return { field, operator, value };
  }),
});
const all = (...parts: readonly (Part | Filter)[]) => joined("AND", ...parts);
const any = (...parts: readonly (Part | Filter)[]) => joined("OR", ...parts);

/** What an index finds, on each branch. */
const selective: Readonly<Record<string, Filter>> = {
  "a rare tag": all(["tags", "hasAny", ["vip"]]),
  "a rare tag and a system": all(["tags", "hasAny", ["vip"]], ["osType", "equals", "windows"]),
  "one title": all(["software.installed", "equals", "Vendor 233 Product 4433"]),
  "part of a title": all(["software.installed", "contains", "product 4433"]),
  "part of a hostname": all(["hostname", "contains", "pc-9912"]),
  "a hostname": all(["hostname", "equals", "PC-7919"]),
  "a rare tag on windows, or a title under load": any(
    all(["tags", "hasAny", ["vip"]], ["osType", "equals", "windows"]),
    all(["software.installed", "equals", "Vendor 233 Product 4433"], ["metrics.cpuPercent", "greaterThan", 50]),
  ),
  "a rare tag or a title": any(["tags", "hasAny", ["vip"]], ["software.installed", "in", ["Vendor 233 Product 4433"]]),
};

/** What most devices satisfy, or no index knows. */
const broad: Readonly<Record<string, Filter>> = {
  "a status": all(["status", "equals", "online"]),
  "two letters of a name": all(["hostname", "contains", "99"]),
  "a pattern": all(["hostname", "matches", "^PC-[0-9]{2}7"]),
  "part of a tag": all(["tags", "contains", "g-1"]),
  "software that is not there": all(["software.notInstalled", "contains", "vendor 17"]),
  "a custom value": all(["custom.location", "contains", "ust"]),
  "a common tag": all(["tags", "hasAny", ["tag-0", "tag-1"]]),
  "load or disk": any(["metrics.cpuPercent", "greaterThan", 90], ["metrics.diskPercent", "greaterThan", 95]),
};

/** As many patterns as a filter takes, which are read one by one; and what most devices have, a thousand times. */
const MANY = 1_000;
const heavy: Readonly<Record<string, Filter>> = {
  ...selective,
  ...broad,
  "a thousand patterns": any(
    ...Array.from(
      { length: MANY },
      (_, index): Part => ["hostname", "matches", `^PC-(${index}|x{2,9}[a-f]+)[0-9]{3}$`],
    ),
  ),
  "a thousand names": any(
    ...Array.from({ length: MANY }, (_, index): Part => ["hostname", "contains", `pc-${index}7`]),
  ),
};

/**
 * What the slowest preview of a large fleet takes beyond any authenticated read ÷ reading every device once, and how long
 * one holds the event loop; each preview goes to stderr, whole and so.
 */
export const filters = (database: FleetDatabase): readonly Bench[] => [
  ratio(database, "selective", selective, 0.35),
  ratio(database, "broad", broad, 2.5),
  holds(database),
];

function ratio(database: FleetDatabase, kind: string, asked: Readonly<Record<string, Filter>>, value: number): Bench {
  const fleet = largeFleets[database];
  return {
    name: `filters: the slowest ${kind} preview beyond a plain read (${database}) ÷ full scan of devices`,
    limit: { kind: "max", value },
    on: fleet,
    async run() {
      let worst = { measured: 0, against: 1 };
      const person = fleet.person();
      for (const [name, conditions] of Object.entries(asked)) {
        // What is compiled and planned once is not measured.
        await preview(person, conditions);
        const whole = await middleOf(() => preview(person, conditions), TIMES);
        const measured = whole - (await middleOf(() => get(person, person.path), TIMES));
        const against = await middleOf(fleet.scan, TIMES);
        process.stderr.write(
          `${(measured / against).toFixed(2)}  ${measured.toFixed(1)} ÷ ${against.toFixed(1)} ms, whole ${whole.toFixed(1)}  ${name}\n`,
        );
        if (measured / against > worst.measured / worst.against) worst = { measured, against };
      }
      return { ...worst, unit: "ms" };
    },
  };
}

/** The longest hold of the event loop while previews run, one after the other. */
function holds(database: FleetDatabase): Bench {
  const fleet = largeFleets[database];
  return {
    name: `filters: longest hold of the event loop by a preview (${database}) ÷ ${HELD_MS} ms`,
    limit: { kind: "max", value: 1 },
    on: fleet,
    async run() {
      let measured = 0;
      const person = fleet.person();
      await heldMs(person);
      for (const [name, conditions] of Object.entries(heavy)) {
        const status = await answered(person, conditions);
        const ms = await heldMs(person);
        process.stderr.write(`held ${ms.toFixed(1)} ms  ${name} (${status})\n`);
        measured = Math.max(measured, ms);
      }
      return { measured, against: HELD_MS, unit: "ms" };
    },
  };
}

async function preview(server: Target, conditions: Filter): Promise<void> {
  const status = await answered(server, conditions);
  if (status !== 200) throw new Error(`a preview answered ${status}`);
}

function answered({ url, token }: Target, conditions: Filter): Promise<number | undefined> {
  const body = JSON.stringify({ conditions });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/filters/preview`, { method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
