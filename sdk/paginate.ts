import type { EndpointInfo } from "./endpoint-info.ts";
import { ResponseInvalidError } from "./errors.ts";

type Query = Readonly<Record<string, unknown>>;

/** One page of a list; iterating over it continues through all following pages. A page that fails throws. */
export class Page<I, R = unknown> implements AsyncIterable<I> {
  readonly items: I[];
  /** Total number of entries; undefined if the server did not count. */
  readonly total: number | undefined;
  /** The whole answer. */
  readonly raw: R;
  readonly #fetchNext: (() => Promise<Page<I, R>>) | undefined;

  constructor(items: I[], total: number | undefined, raw: R, fetchNext: (() => Promise<Page<I, R>>) | undefined) {
    this.items = items;
    this.total = total;
    this.raw = raw;
    this.#fetchNext = fetchNext;
  }

  get hasNext(): boolean {
    return this.#fetchNext !== undefined;
  }

  async next(): Promise<Page<I, R> | undefined> {
    return this.#fetchNext?.();
  }

  async *pages(): AsyncGenerator<Page<I, R>> {
    for (let page: Page<I, R> | undefined = this; page !== undefined; page = await page.next()) yield page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<I> {
    for await (const page of this.pages()) yield* page.items;
  }

  /** All entries, or the first `limit`. Never a silently shortened list: a failing page rejects. */
  async toArray({ limit = Number.POSITIVE_INFINITY }: { limit?: number } = {}): Promise<I[]> {
    const all: I[] = [];
    for await (const page of this.pages()) {
      all.push(...page.items.slice(0, limit - all.length));
      if (all.length >= limit) break;
    }
    return all;
  }
}

/** The query that starts a list: a cursor list is started with an empty cursor unless pages are asked for. */
export function firstQuery(endpoint: EndpointInfo, query: Query | undefined): Query | undefined {
  const starts = endpoint.paging?.kind === "cursor" && query?.["page"] === undefined && query?.["cursor"] === undefined;
  return starts ? { ...query, cursor: "" } : query;
}

/** Reads the answer of any kind of list into a page. */
export function pageOf<I, R>(
  endpoint: EndpointInfo,
  query: Query | undefined,
  answer: R,
  fetchPage: (query: Query) => Promise<Page<I, R>>,
): Page<I, R> {
  const body = answer as Record<string, unknown>;
  const items = body[endpoint.paging?.items ?? "data"] ?? body["data"];
  if (!Array.isArray(items)) throw noList(endpoint);
  const next = nextQuery(endpoint, query, body, items.length);
  return new Page<I, R>(items, totalOf(body), answer, next && (() => fetchPage({ ...query, ...next })));
}

interface Pagination {
  page: number;
  limit: number;
  total: number;
}

const paginationOf = (body: Record<string, unknown>) => body["pagination"] as Pagination | undefined;

function totalOf(body: Record<string, unknown>): number | undefined {
  const total = paginationOf(body)?.total ?? body["total"];
  return typeof total === "number" && total >= 0 ? total : undefined;
}

function nextQuery(
  endpoint: EndpointInfo,
  query: Query | undefined,
  body: Record<string, unknown>,
  count: number,
): Query | undefined {
  const pagination = paginationOf(body);
  if (pagination !== undefined) {
    const { page, limit, total } = pagination;
    const more = total >= 0 ? page * limit < total : count >= limit;
    return more && count > 0 ? { page: page + 1 } : undefined;
  }
  const { offset, limit, total } = body as Record<string, unknown>;
  if (typeof offset === "number" && typeof limit === "number" && typeof total === "number")
    return count > 0 && offset + count < total ? { page: Math.floor(offset / limit) + 2 } : undefined;
  const cursor = body["nextCursor"];
  if (typeof cursor !== "string") return undefined;
  if (cursor === query?.["cursor"]) throw noList(endpoint);
  return { cursor };
}

const noList = ({ noun, verb }: EndpointInfo) =>
  new ResponseInvalidError("The answer is not a list that goes on", {
    code: "INVALID_RESPONSE",
    outcome: "rejected",
    operation: `${noun}.${verb}`,
  });
