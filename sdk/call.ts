import type { Answer } from "./core.ts";
import type { Page } from "./paginate.ts";
import type { RawResponse } from "./transport.ts";

/** Sends the request: with `streamed` the body is left for the caller to read. */
export type Send = (streamed: boolean) => Promise<Answer>;

/**
 * A running call: await it for the result. It starts at the end of the current turn, so that `asResponse()`
 * can still ask for the body as a stream.
 */
export class ApiCall<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "ApiCall";
  #streamed = false;
  readonly #answer: Promise<Answer>;
  readonly #read: (answer: Answer) => T | Promise<T>;
  #result: Promise<T> | undefined;

  constructor(send: Send, read: (answer: Answer) => T | Promise<T>) {
    this.#read = read;
    this.#answer = Promise.resolve().then(() => send(this.#streamed));
  }

  /** The answer with its body unread, for streams. An error status still throws. */
  asResponse(): Promise<RawResponse> {
    this.#streamed = true;
    return this.#answer.then(({ response }) => response);
  }

  /** The result together with status and headers. */
  async withResponse(): Promise<{ data: T; response: Pick<RawResponse, "status" | "headers"> }> {
    const [data, { response }] = await Promise.all([this.#parsed(), this.#answer]);
    return { data, response };
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#parsed().then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#parsed().catch(rejected);
  }

  finally(done?: (() => void) | null): Promise<T> {
    return this.#parsed().finally(done);
  }

  #parsed(): Promise<T> {
    this.#result ??= this.#answer.then(this.#read);
    return this.#result;
  }
}

/** A running list: await it for its first page, or iterate over all entries at once. */
export class ListCall<I, R> extends ApiCall<Page<I, R>> implements AsyncIterable<I> {
  async *[Symbol.asyncIterator](): AsyncGenerator<I> {
    yield* await this;
  }

  async *pages(): AsyncGenerator<Page<I, R>> {
    yield* (await this).pages();
  }

  async toArray(options: { limit?: number } = {}): Promise<I[]> {
    return (await this).toArray(options);
  }
}
