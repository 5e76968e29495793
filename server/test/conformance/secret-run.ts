import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Tenant } from "#fixtures/world";
import type { Answer } from "../harness.ts";
import { type Case, caseOf } from "./cases.ts";
import type { SecretLedger } from "./ledger.ts";
import { ask, type CallOptions, type Swept } from "./sweep.ts";

/** Begins with random characters, which makes the search faster. */
export const planted = (what: string): string => `${randomBytes(12).toString("hex")}-planted-${what}`;

/** Sends requests full of secrets, and records requests and answers in its ledger. */
export class SecretRun {
  readonly swept: Swept;
  readonly ledger: SecretLedger;
  /** The tenant of the stories. */
  readonly tenant: Tenant;
  /** Number of answers by status. */
  readonly answers: Record<number, number> = {};

  constructor(swept: Swept, ledger: SecretLedger, tenant: Tenant) {
    this.swept = swept;
    this.ledger = ledger;
    this.tenant = tenant;
  }

  /** Sends an example and records it; any answer is accepted. */
  async send(target: Case, options: Partial<CallOptions> = {}): Promise<Answer> {
    const at = options.tenant ?? this.tenant;
    const body = "body" in options ? options.body : target.example(at).body;
    const { token, headers = {} } = options;
    this.ledger.sent(target.endpoint, body, { ...headers, authorization: token });
    const answer = await ask(this.swept.server, target, { ...options, tenant: at });
    this.ledger.received(target.endpoint, answer);
    this.answers[answer.status] = (this.answers[answer.status] ?? 0) + 1;
    return answer;
  }

  async succeed(name: string, options: Partial<CallOptions> = {}): Promise<Answer["body"]> {
    const answer = await this.send(caseOf(name), options);
    expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  }
}
