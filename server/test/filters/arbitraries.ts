import fc from "fast-check";
import type { PlainCondition, PlainDevice, PlainGroup } from "./plain-device.ts";

/** Small pools, so that conditions and devices meet. */
const texts = [
  ...["", "a", "PC_01", "PCX01", "pc_01", "50%OFF", "50 off", "back\\slash", "wow!", "!_%", "0", "12", "true", "yes"],
  ...[
    "Straße",
    "STRASSE",
    "straße",
    "éclair",
    "ÉCLAIR",
    "naïve",
    "ΟΔΟΣ",
    "οδος",
    "οδοσ",
    "ſkip",
    "SKIP",
    "\u212aelvin",
    "kelvin",
  ],
  ...[
    "😀",
    "x😀y",
    "𐐀lpha",
    "𐐨LPHA",
    "line\nend",
    "tab\there",
    'say "hi", he',
    "10.0.0.1",
    "10.0.0.12",
    "2026-03-29",
    "2026-03-29T01:30:00Z",
  ],
];
const parts = [
  "",
  "_",
  "%",
  "!",
  "\\",
  "PC",
  "x0",
  "off",
  "ss",
  "ß",
  "É",
  "σ",
  "s",
  "K",
  "😀",
  "𐐀",
  "\n",
  " ",
  "0",
  "10.0.0.1",
  "e",
  '"',
  ",",
  "[",
  "n",
  "location",
];
const patterns = [
  ...[
    "^PC.01$",
    "^pc",
    "(?i)^pc",
    "o",
    "\\d+",
    "^\\w+$",
    "\\bo",
    "[^a-z]",
    "^.$",
    "^..$",
    "a|e",
    "(0|1)+$",
    "\\s",
    "\\\\",
  ],
  ...["(?i)straße", "(?i)[α-ω]{2}", "^(?:.{2}){1,3}$", "é", "x?", "^$", "[\\W]", "!_%", "(?i)k", "\\x25", "\\B0"],
];

/** Around midnight in UTC, and around the hours that clocks skip and repeat in Europe and America. */
export const NOW = "2026-03-31T10:00:00.000Z";
const times = [
  ...["2026-03-31T10:00:00.000Z", "2026-03-31T10:00:00.001Z", "2026-03-31T09:59:59.999Z", "2026-03-31T09:00:00.000Z"],
  ...["2026-03-30T23:59:59.999Z", "2026-03-31T00:00:00.000Z", "2026-03-30T00:00:00.000Z", "2026-03-30T10:00:00.000Z"],
  ...["2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00.000Z", "2026-03-29T01:30:00.000Z", "2026-03-08T07:00:00.000Z"],
  ...["2026-02-28T10:00:00.000Z", "2026-02-28T09:59:59.999Z", "2025-10-26T00:30:00.000Z", "2025-10-26T01:30:00.000Z"],
  ...["2026-04-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z", "2024-02-29T12:00:00.000Z", "1999-12-31T23:59:59.999Z"],
];
const days = ["2026-03-31", "2026-03-30", "2026-03-29", "2026-03-08", "2026-02-28", "2025-10-26", "2024-02-29"];
const spelled = fc.oneof(
  fc.constantFrom(...times),
  fc.constantFrom(...days),
  fc.constantFrom("2026-03-29T03:30:00+02:00", "2026-03-29T01:30:00", "2026-03-30T19:00:00-05:00", "2026-03-31T10:00Z"),
);
const numbers = [-1, 0, 0.5, 1, 2, 2.5, 4, 8, 12, 50, 90, 99.5, 100, 512, 16_384, 86_400, 1e12];
const statuses = ["online", "offline", "maintenance", "decommissioned", "quarantined", "updating", "pending"];
const roles = ["workstation", "server", "printer", "unknown"];
const systems = ["windows", "macos", "linux"];
const architectures = ["x64", "amd64", "AMD64", "x86_64", "i386", "i686", "386", "x86", "arm64", "aarch64", "riscv64"];
const tags = ["prod", "Prod", "web", "50%", "a_b", "ß", "😀", "Straße", 'qu"ote', "kelvin"];
const titles = ["Google Chrome", "google chrome", "Chromium", "7-Zip", "50% Off", "a_b", "Übung", "ΟΔΟΣ", "Zoom"];
const ips = ["10.0.0.1", "10.0.0.12", "192.168.1.1", "2001:DB8::1", "2001:db8::1", ""];
export const keys = ["asset", "cost", "leased", "bought", "shelf", "none"];

const among = <T>(values: readonly T[]) => fc.constantFrom(...values);
const orNull = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 3 });
const some = <T>(values: readonly T[], max = 3) => fc.uniqueArray(among(values), { maxLength: max });

const stored = fc.oneof(
  among(texts),
  among(numbers),
  fc.boolean(),
  among(days),
  among(times),
  fc.constantFrom("12.50", "no", "false", "2026-02-30", "2026-03-29T03:30:00+02:00", "12abc"),
);

export type Described = Omit<PlainDevice, "id" | "orgId" | "partnerId" | "siteId" | "groupIds">;

export const devices: fc.Arbitrary<Described> = fc.record({
  hostname: among(texts.filter((text) => text !== "")),
  displayName: orNull(among(texts)),
  agentVersion: among(["1.2.3", "1.10.0", "2.0.0"]),
  lastUser: orNull(among(texts)),
  status: among(statuses),
  enrolledAt: orNull(among(times)),
  lastSeenAt: orNull(among(times)),
  quarantinedAt: orNull(among(times)),
  tags: some(tags),
  deviceRole: among(roles),
  isHeadless: fc.boolean(),
  pendingReboot: fc.boolean(),
  uptimeSeconds: orNull(among(numbers.filter((number) => Number.isInteger(number)))),
  watchdogStatus: orNull(among(["connected", "failover", "offline"])),
  osType: among(systems),
  osVersion: among(["10.0.19045", "14.5", "22.04"]),
  osBuild: orNull(among(texts)),
  architecture: among(architectures),
  lastSeenIp: orNull(among(ips)),
  customFields: fc.dictionary(among(keys), stored, { maxKeys: 4 }),
  hardware: orNull(
    fc.record({
      manufacturer: orNull(among(texts)),
      model: orNull(among(texts)),
      serialNumber: orNull(among(texts)),
      cpuModel: orNull(among(texts)),
      gpuModel: orNull(among(texts)),
      cpuCores: orNull(among([1, 2, 4, 8])),
      ramTotalMb: orNull(among(numbers)),
      diskTotalGb: orNull(among(numbers)),
    }),
  ),
  metrics: fc.uniqueArray(among(times), { maxLength: 3 }).chain((at) =>
    fc.tuple(
      ...at.toSorted().map((timestamp) =>
        fc.record({
          timestamp: fc.constant(timestamp),
          cpuPercent: among(numbers),
          ramPercent: among(numbers),
          diskPercent: among(numbers),
        }),
      ),
    ),
  ),
  interfaces: fc.array(
    fc.record({ ipAddress: orNull(among(ips)), publicIp: orNull(among(ips)), macAddress: orNull(among(texts)) }),
    { maxLength: 3 },
  ),
  software: orNull(some(titles, 4)),
  patches: orNull(fc.array(among(["pending", "installed", "missing"]), { maxLength: 3 })),
});

const STR = "equals notEquals contains notContains startsWith endsWith matches in notIn isNull isNotNull".split(" ");
const DT = "equals notEquals before after between withinLast notWithinLast isNull isNotNull".split(" ");
const ORDER = "greaterThan greaterThanOrEquals lessThan lessThanOrEquals".split(" ");
const NUM = ["equals", "notEquals", ...ORDER, "between", "isNull", "isNotNull"];

const condition = (
  fields: readonly string[],
  operators: readonly string[],
  value: (operator: string) => fc.Arbitrary<unknown>,
) =>
  fc
    .tuple(among(fields), among(operators))
    .chain(([field, operator]) =>
      /^is/.test(operator)
        ? fc.constant<PlainCondition>({ field, operator })
        : value(operator).map((given): PlainCondition => ({ field, operator, value: given })),
    );

const list = (values: readonly string[], operator: string) =>
  fc.uniqueArray(among(values), { minLength: /notIn|hasAll/.test(operator) ? 1 : 0, maxLength: 3 });

const textual = (pool: readonly string[]) => (operator: string) => {
  if (operator === "matches") return among(patterns);
  if (operator === "in" || operator === "notIn") return list(pool, operator);
  return /equals/i.test(operator) ? among(pool) : among([...parts, ...pool]);
};
const numerical = (operator: string): fc.Arbitrary<unknown> => {
  const one = fc.oneof(among(numbers), among(numbers.map(String)));
  if (operator !== "between") return one;
  return fc.tuple(one, one).map(([a, b]) => (Number(a) <= Number(b) ? { from: a, to: b } : { from: b, to: a }));
};
const span = fc.oneof(
  fc.constant({ amount: 1, unit: "months" }),
  fc.record({
    amount: among([1, 2, 12, 48, 59, 10_000]),
    unit: among(["minutes", "hours", "days", "weeks", "months"]),
  }),
);
const temporal = (operator: string): fc.Arbitrary<unknown> => {
  if (/Last$/.test(operator)) return span;
  if (operator !== "between") return spelled;
  const order = (text: string) => Date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
  return fc.tuple(spelled, spelled).map(([a, b]) => (order(a) <= order(b) ? { from: a, to: b } : { from: b, to: a }));
};
const truths = () => among([true, false, "true", "false", "yes", "no"]);
const words = (values: readonly string[]) => (operator: string) =>
  /in$/i.test(operator) ? list(values, operator) : among(values);
const ENUM = ["equals", "notEquals", "in", "notIn"];

/** `ids` are those of organizations, sites and groups. */
export const conditions = (ids: readonly string[]): fc.Arbitrary<PlainCondition> =>
  fc.oneof(
    { arbitrary: condition(["hostname", "displayName", "lastUser", "osBuild"], STR, textual(texts)), weight: 5 },
    condition(["agentVersion"], STR, textual(["1.2.3", "1.10.0"])),
    condition(["osVersion"], STR, textual(["14.5", "22.04"])),
    condition(
      ["hardware.manufacturer", "hardware.model", "hardware.serialNumber", "hardware.cpuModel", "hardware.gpuModel"],
      STR,
      textual(texts),
    ),
    condition(["hardware.cpuCores", "hardware.ramTotalMb", "hardware.diskTotalGb"], NUM, numerical),
    condition(["network.ipAddress", "network.publicIp", "lastSeenIp"], STR, textual(ips)),
    condition(["network.macAddress"], STR, textual(texts)),
    condition(["metrics.cpuPercent", "metrics.ramPercent", "metrics.diskPercent"], NUM, numerical),
    condition(["uptimeSeconds"], NUM, numerical),
    condition(["daysSinceLastSeen", "daysSinceEnrolled"], NUM, numerical),
    { arbitrary: condition(["enrolledAt", "lastSeenAt", "quarantinedAt"], DT, temporal), weight: 3 },
    condition(["status"], ENUM, words(statuses)),
    condition(["deviceRole"], ENUM, words(roles)),
    condition(["osType"], ENUM, words(systems)),
    condition(["watchdogStatus"], ENUM, words(["connected", "failover", "offline"])),
    condition(["architecture"], ENUM, words(["x64", "x86", "arm64"])),
    condition(["isHeadless"], ["equals", "notEquals", "isNull", "isNotNull"], truths),
    condition(["patches.pending", "alerts.critical", "system.rebootRequired"], ["equals", "notEquals"], truths),
    condition(["tags"], ["hasAny", "hasAll", "isEmpty", "isNotEmpty"], (operator) => list(tags, operator)),
    condition(["tags"], ["contains"], () => among([...parts, ...tags])),
    condition(["software.installed"], ["in", "hasAny", "hasAll"], (operator) => list(titles, operator)),
    condition(["software.installed"], ["equals"], () => among(titles)),
    condition(["software.installed"], ["contains", "notContains"], () => among([...parts, ...titles])),
    condition(["software.notInstalled"], ["contains"], () => among([...parts, ...titles])),
    condition(["orgId", "siteId", "groupId"], ["equals", "in"], words(ids)),
    custom(STR, textual(texts)),
    custom(NUM, numerical),
    custom(["equals", "notEquals"], truths),
    custom([...DT, ...ORDER], temporal),
  );

const custom = (operators: readonly string[], value: (operator: string) => fc.Arbitrary<unknown>) =>
  condition(
    keys.map((key) => `custom.${key}`),
    operators,
    value,
  );

/** Mostly small, sometimes nested. */
export const filters = (ids: readonly string[]): fc.Arbitrary<PlainGroup> => {
  const { group } = fc.letrec<{ group: PlainGroup; part: PlainGroup | PlainCondition }>((tie) => ({
    group: fc.record({
      operator: fc.constantFrom<"AND" | "OR">("AND", "OR"),
      conditions: fc.array(tie("part"), { minLength: 1, maxLength: 3 }),
    }),
    part: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { arbitrary: conditions(ids), weight: 4 },
      tie("group"),
    ),
  }));
  return group;
};
