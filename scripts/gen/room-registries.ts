import { existsSync, readFileSync } from "node:fs";
import { areas } from "#contract/areas";
import { camel, folders } from "./tree.ts";

/** A folder of the server that registers what it does by a file of that name. */
interface Room {
  /** What the generated files call it. */
  readonly key: string;
  /** From the root of the repository. */
  readonly folder: string;
}

/** The rooms of features, area by area, then those they stand on. */
function rooms(): Room[] {
  const features = Object.keys(areas).flatMap((area) =>
    folders(`server/features/${area}`).map((room) => ({
      key: room === "core" ? camel(`${area}-core`) : camel(room),
      folder: `features/${area}/${room}`,
    })),
  );
  return [
    ...features,
    ...["access", "audit", "events", "http", "jobs"].map((room) => ({ key: `${room}Room`, folder: room })),
  ];
}

interface Registered {
  key: string;
  /** As the generated files import it. */
  file: string;
}

/** The rooms that export `name` from a file of that name, such as `schedules` from `schedules.ts`. */
function exporting(name: string): Registered[] {
  return rooms()
    .filter(({ folder }) => exportsOf(`server/${folder}/${name}.ts`, name))
    .map(({ key, folder }) => ({ key, file: `../${folder}/${name}.ts` }));
}

/** What runs without a request: `jobs`, `schedules` and `consumers` of the rooms. */
export function backgroundTable(banner: string): string {
  const [schedules, jobs, consumers] = [exporting("schedules"), exporting("jobs"), exporting("consumers")];
  return lines([
    banner,
    'import type { Consumer } from "#server/events/consumer";',
    'import type { JobHandlers } from "#server/jobs/queue";',
    'import type { Schedule } from "#server/jobs/scheduler";',
    ...jobs.map(({ key, file }) => `import { jobs as ${key}Jobs } from "${file}";`),
    ...schedules.map(({ key, file }) => `import { schedules as ${key}Schedules } from "${file}";`),
    ...consumers.map(({ key, file }) => `import { consumers as ${key}Consumers } from "${file}";`),
    "",
    "/** Durable jobs by kind. */",
    `export const jobHandlers: JobHandlers = { ${jobs.map(({ key }) => `...${key}Jobs`).join(", ")} };`,
    "",
    "/** What runs by the clock. */",
    `export const schedules: readonly Schedule[] = [${schedules.map(({ key }) => `...${key}Schedules`).join(", ")}];`,
    "",
    "/** Who is told of events. */",
    `export const consumers: readonly Consumer[] = [${consumers.map(({ key }) => `...${key}Consumers`).join(", ")}];`,
  ]);
}

/** The `hooks` of the rooms, which handle events. */
export function hookTable(banner: string): string {
  const hooks = exporting("hooks");
  return lines([
    banner,
    'import type { RoomHooks } from "#server/room-hooks";',
    ...hooks.map(({ key, file }) => `import { hooks as ${key} } from "${file}";`),
    "",
    "/** Each event goes through them in this order. */",
    `export const roomHooks: readonly RoomHooks[] = [${hooks.map(({ key }) => key).join(", ")}];`,
  ]);
}

/** The `upgrades` of the rooms: paths that become WebSockets. */
export function upgradeTable(banner: string): string {
  const upgrades = exporting("upgrades");
  return lines([
    banner,
    'import type { Upgrade } from "#server/http/upgrade";',
    ...upgrades.map(({ key, file }) => `import { upgrades as ${key} } from "${file}";`),
    "",
    `export const upgrades: readonly Upgrade[] = [${upgrades.map(({ key }) => `...${key}`).join(", ")}];`,
  ]);
}

function exportsOf(file: string, name: string): boolean {
  return existsSync(file) && new RegExp(`^export const ${name}\\b`, "m").test(readFileSync(file, "utf8"));
}

const lines = (text: readonly string[]): string => `${text.join("\n")}\n`;
