import type { ListCall } from "#sdk/call";
import { CliError } from "../errors/cli-error.ts";
import type { Sendable } from "./sender.ts";

/** Sends one read, within the budget of requests. */
export type Read = <T>(call: Sendable<T>) => Promise<T>;

const ATTEMPTS = 3;

/** A list that changes while it is read is read again; one that never holds still is an error, never a shorter list. */
export async function readAll<I extends { id: string }, R>(
  what: string,
  list: (options: { readonly signal: AbortSignal }) => ListCall<I, R>,
  read: Read,
): Promise<I[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const found = new Map<string, I>();
    let page = await read(list);
    for (;;) {
      for (const item of page.items) found.set(item.id, item);
      if (!page.hasNext) break;
      const { next } = { next: page };
      page = (await read(() => next.next() as Promise<typeof page>)) as typeof page;
    }
    if (page.total === undefined || page.total === found.size) return [...found.values()];
  }
  throw new CliError(`The list of ${what} changed while it was read, ${ATTEMPTS} times in a row`, {
    exit: "tryLater",
    code: "LIST_CHANGED",
    hint: "Run the command again",
  });
}
