import type { ApiCall } from "#sdk/call";
import { CliError } from "../errors/cli-error.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import { type Replay, replayOf } from "./replay.ts";
import type { Sender } from "./sender.ts";

/** An object that must come into being once, however often `apply` is killed and started again. */
export interface Creation<T> {
  /** What makes it this object: partner, organization, kind, name. */
  readonly identity: readonly (string | undefined)[];
  readonly body: Readonly<Record<string, unknown>>;
  send(options: { readonly idempotencyKey: string; readonly retries: number }): ApiCall<T>;
  /** Whether the object that a replayed answer names still is there, and still is this one. */
  isStill(created: T, replay: Replay): Promise<boolean>;
}

/** What it takes to send. */
export interface Creating {
  readonly sender: Sender;
  readonly idempotencyKey: IdempotencyKeys;
}

/** How often an object may be created, removed by hand and created again within the server's memory of 24 hours. */
export const GENERATIONS = 5;

/**
 * Creates under a key that the same object with the same content always gets: a rerun that did not see the answer
 * is given it again. An answer that names an object which is gone by now is passed over, with the next generation
 * of the key.
 */
export async function createOnce<T>({ sender, idempotencyKey }: Creating, creation: Creation<T>): Promise<T> {
  for (let generation = 0; generation < GENERATIONS; generation++) {
    const key = idempotencyKey([...creation.identity, creation.body, generation]);
    const { data, response } = await sender.send(
      () => creation.send({ idempotencyKey: key, retries: 0 }).withResponse(),
      {
        repeatable: true,
      },
    );
    const replay = replayOf(response);
    if (!replay.replayed || (await creation.isStill(data, replay))) return data;
  }
  throw tooManyGenerations();
}

export const tooManyGenerations = (): CliError =>
  new CliError(`It was created and removed ${GENERATIONS} times within a day`, {
    exit: "conflict",
    code: "CREATED_TOO_OFTEN",
    hint: "Create it by hand, or wait a day",
  });
