import type { Limit } from "#server/access/rate-limit";
import { clientBlock } from "#server/platform/ip-address";
import type { Answer } from "../../harness.ts";
import { type Case, caseOf } from "../cases.ts";
import type { CallOptions, Swept } from "../sweep.ts";

/** A request of the contract, or what stands in no contract, as it is sent to a server. */
type Asking = { item: Case; options: CallOptions } | { send: (url: string) => Promise<Answer> };

/** The n-th request of a burst. */
export type Attempt = (number: number) => Asking;

/** A limit, and the requests that count towards it. */
export interface Burst {
  /** Its name in the server's source. */
  readonly limit: string;
  readonly noun: string;
  /** Requests that the limit still allows when the burst begins. */
  readonly left: number;
  /** Counts by the client's address: each request comes from another one of the same IPv6 network. */
  readonly byAddress?: true;
  ready(swept: Swept): Promise<Attempt>;
  /** How many were admitted, if the answers do not tell. */
  admitted?(swept: Swept): Promise<number>;
}

/** Limits that are settings, lowered for the test; the others keep their defaults. */
export const settings = {
  API_RATE_LIMIT_PER_MINUTE: "40",
  AGENT_ENROLL_RATE_LIMIT: "10",
  LIVE_WAIT_SECONDS: "2",
  AGENT_POLL_MAX_SECONDS: "3",
  TRUST_PROXY_HEADERS: "true",
};

/** The n-th address of a client that has a /64 for itself. */
export const addressOf = (number: number): string => `2001:db8:0:7::${(number + 1).toString(16)}`;
export const ADDRESS = clientBlock(addressOf(0));
export const UNKNOWN = "Wrong-Password-1";

/** The same request each time. */
export const always = (name: string, options: CallOptions): Attempt => {
  const item = caseOf(name);
  return () => ({ item, options });
};

/** Uses a limit up directly, because sending that many requests takes too long. */
export const useUp = (swept: Swept, limit: Limit, subject: string, left: number) =>
  swept.server.services.limiter.take(limit, subject, limit.max - left);

/** The same of a limit that is taken within transactions. */
export async function useUpWithin(swept: Swept, limit: Limit, subject: string, left: number): Promise<void> {
  const { limiter } = swept.server.services;
  await swept.db.transaction().execute((tx) => limiter.takeWithin(tx, limit, subject, limit.max - left));
}

export const wasAdmitted = ({ status }: Answer): boolean => status !== 429;
