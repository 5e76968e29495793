import type { PlainCondition, PlainDefinition, PlainDevice, PlainGroup } from "./plain-device.ts";

interface World {
  nowMs: number;
  definitions: readonly PlainDefinition[];
}

/** Whether a device satisfies a filter, written from the rules alone and shared with nothing that is tested. */
export const satisfies = (device: PlainDevice, filter: PlainGroup, world: World): boolean => {
  const holds = (part: PlainGroup | PlainCondition) =>
    "conditions" in part ? satisfies(device, part, world) : holdsFor(device, part, world);
  return filter.operator === "AND" ? filter.conditions.every(holds) : filter.conditions.some(holds);
};

const DAY = 86_400_000;
type Condition = PlainCondition;

function holdsFor(device: PlainDevice, condition: Condition, world: World): boolean {
  const { field, operator, value } = condition;
  const [group, name] = field.split(".") as [string, string | undefined];
  if (group === "custom") return customHolds(device, name as string, condition, world);
  if (group === "hardware") {
    const found = device.hardware?.[name as string] ?? null;
    return typeof found === "number" || ["cpuCores", "ramTotalMb", "diskTotalGb"].includes(name as string)
      ? numberHolds(found as number | null, operator, value)
      : textHolds(found as string | null, operator, value);
  }
  if (group === "metrics") return numberHolds(device.metrics.at(-1)?.[name as "cpuPercent"] ?? null, operator, value);
  if (group === "network") return interfacesHold(device, name as "ipAddress", operator, value);
  if (group === "software") return softwareHolds(device.software, name as string, operator, value);
  if (field === "patches.pending") {
    if (device.patches === null) return false;
    return device.patches.includes("pending") === wanted(operator, value);
  }
  if (field === "alerts.critical") return wanted(operator, value) === false;
  if (field === "system.rebootRequired") return device.pendingReboot === wanted(operator, value);
  if (field === "tags") return tagsHold(device.tags, operator, value);
  if (field === "architecture") return textHolds(normal(device.architecture), operator, value);
  if (field === "isHeadless") return booleanHolds(device.isHeadless, operator, value);
  if (field === "uptimeSeconds") return numberHolds(device.uptimeSeconds, operator, value);
  if (field === "daysSinceLastSeen") return numberHolds(daysSince(device.lastSeenAt, world), operator, value);
  if (field === "daysSinceEnrolled") return numberHolds(daysSince(device.enrolledAt, world), operator, value);
  if (field === "enrolledAt" || field === "lastSeenAt" || field === "quarantinedAt")
    return timeHolds(msOf(device[field]), operator, value, world.nowMs);
  if (field === "groupId") return device.groupIds.some((id) => (operator === "in" ? value.includes(id) : id === value));
  return textHolds(device[field as "hostname"], operator, value);
}

const wanted = (operator: string, value: unknown) => (operator === "equals" ? truth(value) : !truth(value));
const truth = (value: unknown) => value === true || value === "true" || value === "yes";
const msOf = (text: string | null) => (text === null ? null : Date.parse(text));
const daysSince = (text: string | null, { nowMs }: World) =>
  text === null ? null : (nowMs - Date.parse(text)) / 1_000 / 86_400;

function normal(architecture: string): string {
  const written = architecture.toLowerCase();
  if (["amd64", "x86_64"].includes(written)) return "x64";
  if (["386", "i386", "i686"].includes(written)) return "x86";
  return written === "aarch64" ? "arm64" : written;
}

/** Of platforms: the flag `u` with `i` folds simply. */
const inAnyCase = (text: string, before: string, after: string) =>
  new RegExp(`${before}${text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}${after}`, "iu");

function textHolds(found: string | null, operator: string, value: unknown): boolean {
  if (operator === "isNull") return found === null;
  if (found === null) return false;
  const given = value as string;
  switch (operator) {
    case "isNotNull":
      return true;
    case "equals":
      return found === given;
    case "notEquals":
      return found !== given;
    case "contains":
      return inAnyCase(given, "", "").test(found);
    case "notContains":
      return !inAnyCase(given, "", "").test(found);
    case "startsWith":
      return inAnyCase(given, "^", "").test(found);
    case "endsWith":
      return inAnyCase(given, "", "$").test(found);
    case "matches":
      return given.startsWith("(?i)")
        ? new RegExp(given.slice(4), "iu").test(found)
        : new RegExp(given, "u").test(found);
    case "in":
      return (value as string[]).includes(found);
    case "notIn":
      return !(value as string[]).includes(found);
  }
  throw new Error(operator);
}

function numberHolds(found: number | null, operator: string, value: unknown): boolean {
  if (operator === "isNull") return found === null;
  if (found === null) return false;
  if (operator === "isNotNull") return true;
  if (operator === "between") {
    const { from, to } = value as { from: unknown; to: unknown };
    return Number(from) <= found && found <= Number(to);
  }
  const given = Number(value);
  switch (operator) {
    case "equals":
      return found === given;
    case "notEquals":
      return found !== given;
    case "greaterThan":
      return found > given;
    case "greaterThanOrEquals":
      return found >= given;
    case "lessThan":
      return found < given;
    case "lessThanOrEquals":
      return found <= given;
  }
  throw new Error(operator);
}

function booleanHolds(found: boolean | null, operator: string, value: unknown): boolean {
  if (operator === "isNull") return found === null;
  if (found === null) return false;
  if (operator === "isNotNull") return true;
  return (found === truth(value)) === (operator === "equals");
}

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text);
/** A time without an offset is UTC. */
const instant = (text: string) => Date.parse(isDay(text) || /(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`);

function timeHolds(found: number | null, operator: string, value: unknown, nowMs: number): boolean {
  if (operator === "isNull") return found === null;
  if (found === null) return false;
  if (operator === "isNotNull") return true;
  if (operator === "between") {
    const { from, to } = value as { from: string; to: string };
    return instant(from) <= found && found <= instant(to) + (isDay(to) ? DAY - 1 : 0);
  }
  if (operator === "withinLast" || operator === "notWithinLast") {
    const inside = ago(value as { amount: number; unit: string }, nowMs) <= found && found <= nowMs;
    return inside === (operator === "withinLast");
  }
  const [text, ms] = [value as string, instant(value as string)];
  const same = isDay(text) ? Math.floor(found / DAY) * DAY === ms : found === ms;
  switch (operator) {
    case "equals":
      return same;
    case "notEquals":
      return !same;
    case "before":
    case "lessThan":
      return found < ms;
    case "after":
    case "greaterThan":
      return found > ms;
    case "greaterThanOrEquals":
      return found >= ms;
    case "lessThanOrEquals":
      return found <= ms;
  }
  throw new Error(operator);
}

function ago({ amount, unit }: { amount: number; unit: string }, nowMs: number): number {
  const minutes: Record<string, number> = { minutes: 1, hours: 60, days: 1_440, weeks: 10_080 };
  if (unit !== "months") return nowMs - amount * (minutes[unit] as number) * 60_000;
  const now = new Date(nowMs);
  const months = now.getUTCFullYear() * 12 + now.getUTCMonth() - Number(amount);
  const [year, month] = [Math.floor(months / 12), months % 12];
  const lengths = [
    31,
    year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28,
    31,
    30,
    31,
    30,
    31,
    31,
    30,
    31,
    30,
    31,
  ];
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month, Math.min(now.getUTCDate(), lengths[month] as number));
  return midnight.getTime() + (nowMs % DAY);
}

const negative: Record<string, string> = { notEquals: "equals", notContains: "contains", notIn: "in" };

function interfacesHold(device: PlainDevice, name: "ipAddress", operator: string, value: unknown): boolean {
  const values = device.interfaces.map((one) => one[name]).filter((one) => one !== null);
  if (operator === "isNull") return values.length === 0;
  const positive = negative[operator];
  if (positive) return values.length > 0 && !values.some((one) => textHolds(one, positive, value));
  return values.some((one) => textHolds(one, operator, value));
}

function softwareHolds(titles: string[] | null, name: string, operator: string, value: unknown): boolean {
  if (titles === null) return false;
  const contains = () => titles.some((title) => textHolds(title, "contains", value));
  if (name === "notInstalled" || operator === "notContains") return !contains();
  if (operator === "contains") return contains();
  if (operator === "equals") return titles.includes(value as string);
  const given = value as string[];
  return operator === "hasAll" ? given.every((one) => titles.includes(one)) : given.some((one) => titles.includes(one));
}

function tagsHold(tags: string[], operator: string, value: unknown): boolean {
  if (operator === "isEmpty") return tags.length === 0;
  if (operator === "isNotEmpty") return tags.length > 0;
  if (operator === "contains") return tags.some((tag) => textHolds(tag, "contains", value));
  const given = value as string[];
  return operator === "hasAll" ? given.every((one) => tags.includes(one)) : given.some((one) => tags.includes(one));
}

const operatorsOf: Record<string, string> = {
  string: "equals notEquals contains notContains startsWith endsWith matches in notIn isNull isNotNull",
  number: "equals notEquals greaterThan greaterThanOrEquals lessThan lessThanOrEquals between isNull isNotNull",
  boolean: "equals notEquals isNull isNotNull",
  date:
    "equals notEquals before after between withinLast notWithinLast isNull isNotNull " +
    "greaterThan greaterThanOrEquals lessThan lessThanOrEquals",
};

function customHolds(device: PlainDevice, key: string, { operator, value }: Condition, world: World): boolean {
  const mine = world.definitions.filter(({ fieldKey }) => fieldKey === key);
  const definition =
    mine.find(({ orgId }) => orgId === device.orgId) ?? mine.find(({ partnerId }) => partnerId === device.partnerId);
  const type =
    definition?.type === "dropdown" || definition?.type === "text" ? "string" : (definition?.type ?? "string");
  if (!operatorsOf[type]?.split(" ").includes(operator)) return false;
  const has = definition?.deviceTypes?.includes(device.osType) ?? true;
  const stored = device.customFields[key] ?? (has ? definition?.defaultValue : null) ?? null;
  if (type === "string") {
    const texts = operator === "in" || operator === "notIn" ? value : [value];
    if (!/Null$/.test(operator) && !texts.every((one: unknown) => typeof one === "string")) return false;
    return textHolds(typeof stored === "string" ? stored : null, operator, value);
  }
  if (type === "number") {
    const given = operator === "between" ? [value.from, value.to] : [value];
    if (!/Null$/.test(operator) && given.some((one: unknown) => numeric(one) === null)) return false;
    return numberHolds(numeric(stored), operator, value);
  }
  if (type === "boolean") {
    if (!/Null$/.test(operator) && binary(value) === null) return false;
    return booleanHolds(binary(stored), operator, value);
  }
  const times = operator === "between" ? [value.from, value.to] : [value];
  if (!/Null$|Last$/.test(operator) && times.some((one: unknown) => time(one) === null)) return false;
  return timeHolds(time(stored), operator, value, world.nowMs);
}

const numeric = (value: unknown): number | null =>
  typeof value === "number" ? value : typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : null;

const binary = (value: unknown): boolean | null =>
  typeof value === "boolean" ? value : ["true", "yes", "false", "no"].includes(value as string) ? truth(value) : null;

const time = (value: unknown): number | null => {
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}|$)/.test(value)) return null;
  const ms = instant(value);
  return Number.isNaN(ms) || (isDay(value) && new Date(ms).toISOString().slice(0, 10) !== value) ? null : ms;
};
