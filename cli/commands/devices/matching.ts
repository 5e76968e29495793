import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import type { DeviceListItem } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { paced } from "../../provisioning/sender.ts";
import type { Where } from "../../where/parse.ts";

type Part = FilterGroup | FilterCondition;

/** What flags of lists say, as conditions: beside `--where` they narrow what it chooses. */
export function conditionsOf(flags: Readonly<Record<string, string>>, tag: string | undefined): Part[] {
  const { orgId, siteId, status, osType, role, search } = flags;
  const equals = (field: string, value: string | undefined): Part[] =>
    value === undefined ? [] : [{ field, operator: "equals", value }];
  const found = (value: string): Part => ({
    operator: "OR",
    conditions: ["hostname", "displayName"].map((field) => ({ field, operator: "contains", value })),
  });
  const tagged: Part[] = tag === undefined ? [] : [{ field: "tags", operator: "hasAny", value: [tag] }];
  return [
    ...equals("orgId", orgId),
    ...equals("siteId", siteId),
    ...equals("status", status),
    ...equals("osType", osType),
    ...equals("deviceRole", role),
    ...tagged,
    ...(search === undefined ? [] : [found(search)]),
  ];
}

/** The expression and these conditions together; what it says keeps its place in the expression. */
export function narrowed(where: Where, more: readonly Part[]): Where {
  if (more.length === 0) return where;
  const { operator, conditions } = where.filter;
  const own = operator === "AND" ? conditions : [where.filter];
  return { ...where, filter: { operator: "AND", conditions: [...own, ...more] } };
}

/** Reads all devices that the expression and the conditions choose, page by page, by hostname. */
export async function matchReader(
  context: Context,
  expression: string,
  more: readonly Part[],
  asked: Asked = {},
): Promise<() => Promise<DeviceListItem[]>> {
  // Loaded for an expression alone, for speed.
  const { whereFor } = await import("../../where/read-where.ts");
  const { pointing } = await import("../../where/pointing.ts");
  const where = narrowed(await whereFor(context, expression), more);
  return () => pointing(context, where, () => allMatches(context, where.filter, asked));
}

/** Every device that a filter names. A page that fails makes the whole fail. */
export async function allMatches(
  context: Context,
  conditions: FilterGroup,
  asked: Asked = {},
): Promise<DeviceListItem[]> {
  const devices: DeviceListItem[] = [];
  for await (const page of matchPages(context, conditions, asked)) devices.push(...page.devices);
  return devices;
}

/** As many as the server gives at once. */
const PAGE = 500;

interface Asked {
  /** Devices of a page. */
  readonly most?: number;
  /** With how many commands each has not collected. */
  readonly pending?: true;
  /** With how many there are in all, on the first page. */
  readonly total?: true;
}

interface Page {
  readonly devices: readonly DeviceListItem[];
  readonly hasMore: boolean;
  readonly total: number | undefined;
}

/** The devices of a filter, page by page; where the server wants a pause, it is told and made. */
export async function* matchPages(
  context: Context,
  conditions: FilterGroup,
  { most = PAGE, pending, total }: Asked = {},
): AsyncGenerator<Page> {
  const { signal, sleep } = context.shell;
  const client = await context.client();
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  const { read } = paced({ perMinute: 0, signal, sleep, onWait });
  const limit = Math.min(PAGE, most);
  let cursor: string | undefined;
  do {
    const body = {
      conditions,
      limit,
      ...(pending && { includePending: true }),
      ...(cursor !== undefined && { cursor }),
      ...(total && cursor === undefined && { includeTotal: true }),
    };
    const page = await read((options) => client.devices.query({ body }, options));
    cursor = page.nextCursor ?? undefined;
    yield { devices: page.devices, hasMore: cursor !== undefined, total: page.total };
  } while (cursor !== undefined);
}
