import type { SeededRandom } from "#fixtures/simulators/seeded-random";
import type { Answer } from "../harness.ts";
import type { ServerProcess } from "./processes.ts";

const nouns = ["organization", "site", "contact"] as const;
export type Noun = (typeof nouns)[number];

/** A row that the load created, according to the answers. */
export interface Made {
  readonly noun: Noun;
  readonly id: string;
  /** Name given by the last acknowledged change. */
  name: string;
  /** Changes after the creation. */
  updates: number;
  /** It is unknown whether the last change took effect; the load does not change the row again. */
  inDoubt: boolean;
}

export interface Mutation {
  readonly noun: Noun;
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly body: Record<string, unknown>;
  /** Unique over the whole load: shows whether this mutation took effect. */
  readonly name: string;
  /** Its `X-Idempotency-Key`, if it has one. */
  readonly key?: string;
  /** What an update changes. */
  readonly row?: Made;
}

/** What the server has acknowledged: the base of every check. */
export class Ledger {
  readonly made: Made[] = [];
  /** Mutations without an answer, or with one that leaves the outcome open. */
  readonly doubts: Mutation[] = [];
  /** Request ids of acknowledged mutations: each must stand in exactly one audit entry. */
  readonly requestIds: string[] = [];
  /** Answers that are not explained by the injected fault. */
  readonly unexpected: string[] = [];
  acknowledged = 0;

  acknowledge(mutation: Mutation, answer: Answer): Made {
    this.acknowledged += 1;
    const requestId = answer.headers.get("x-request-id");
    if (requestId !== null && answer.headers.get("idempotency-replayed") === null) this.requestIds.push(requestId);
    return this.count(mutation, answer.body.id);
  }

  /** Records a mutation that took effect. */
  count(mutation: Mutation, id: string): Made {
    const { noun, name, row } = mutation;
    if (row) {
      row.name = name;
      row.updates += 1;
      row.inDoubt = false;
      return row;
    }
    const made: Made = { noun, id, name, updates: 0, inDoubt: false };
    this.made.push(made);
    return made;
  }

  doubt(mutation: Mutation): void {
    if (mutation.row) mutation.row.inDoubt = true;
    this.doubts.push(mutation);
  }
}

export interface LoadOptions {
  readonly ledger: Ledger;
  readonly random: SeededRandom;
  /** A valid access token: a long run outlives one. */
  token(): string;
  /** Organizations in which sites and contacts are created. */
  readonly orgIds: readonly string[];
  /** Resolves to the current server; waits while there is none. */
  server(): Promise<ServerProcess>;
  /** Called after every acknowledged mutation. */
  onAcknowledged?(count: number): void;
  readonly total: number;
  readonly workers?: number;
}

/** Creates and updates, half of them with an idempotency key (updates take none), until `total` of them are acknowledged. */
export async function mutate(options: LoadOptions): Promise<void> {
  const { ledger, total, workers = 8 } = options;
  const work = async (worker: number) => {
    const own: Made[] = [];
    for (let count = 0; ledger.acknowledged < total && ledger.unexpected.length === 0; count += 1) {
      const mutation = nextMutation(options, own, `w${worker}-${count}`);
      const answer = await attempt(options, mutation);
      if (answer === undefined) ledger.doubt(mutation);
      else if (answer.status < 300) {
        const made = ledger.acknowledge(mutation, answer);
        if (!mutation.row) own.push(made);
        options.onAcknowledged?.(ledger.acknowledged);
      } else
        ledger.unexpected.push(`${mutation.method} ${mutation.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
}

/** Retries at once if there is an idempotency key; undefined if the outcome is unknown. */
async function attempt(options: LoadOptions, mutation: Mutation): Promise<Answer | undefined> {
  for (let left = mutation.key === undefined ? 1 : 2; left > 0; left -= 1) {
    const server = await options.server();
    const answer = await sendMutation(server, options.token(), mutation).catch(() => undefined);
    if (answer && !promisesNothing(answer)) return answer;
  }
  return undefined;
}

export const promisesNothing = ({ status, body }: Answer): boolean =>
  status === 503 || (status === 409 && body.code === "IDEMPOTENCY_IN_FLIGHT");

export const sendMutation = (server: ServerProcess, token: string, mutation: Mutation): Promise<Answer> =>
  server.request(mutation.method, mutation.path, {
    token,
    body: mutation.body,
    headers: mutation.key === undefined ? {} : { "x-idempotency-key": mutation.key },
  });

function nextMutation({ random, orgIds }: LoadOptions, own: Made[], name: string): Mutation {
  const key = random.chance(0.8) ? { key: `key-of-${name}` } : {};
  const free = own.filter((made) => !made.inDoubt);
  if (free.length > 0 && random.chance(0.4)) {
    const row = random.pick(free);
    return { noun: row.noun, method: "PATCH", path: pathOf(row), body: { name }, name, row };
  }
  const orgId = random.pick(orgIds);
  if (random.chance(0.1)) {
    const body = { name, slug: name };
    return { noun: "organization", method: "POST", path: "/orgs/organizations", body, name, ...key };
  }
  if (random.chance(0.5))
    return { noun: "site", method: "POST", path: "/orgs/sites", body: { orgId, name }, name, ...key };
  return {
    noun: "contact",
    method: "POST",
    path: `/orgs/organizations/${orgId}/contacts`,
    body: { name },
    name,
    ...key,
  };
}

const pathOf = ({ noun, id }: Made): string => (noun === "contact" ? `/orgs/contacts/${id}` : `/orgs/${noun}s/${id}`);
