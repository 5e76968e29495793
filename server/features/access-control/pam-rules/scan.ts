import { elevationStatuses } from "#contract/core/elevation";
import type { Candidate } from "../core/decision/candidate.ts";
import { factsOf } from "../core/decision/candidate.ts";
import { shapeOf } from "../core/decision/order.ts";
import {
  type Criteria,
  compareEach,
  judgeRule,
  type ReadRule,
  readRule,
  type SignerGroups,
} from "../core/decision/rule.ts";
import { OutOfSteps, PREVIEW_STEPS_MAX, Steps, type Stepwise } from "../core/decision/steps.ts";

/** A request that a draft is compared with. */
export interface Scanned extends Candidate {
  readonly id: string;
  readonly requestedAt: string;
  readonly status: (typeof elevationStatuses)[number];
  /** As stored: a report without an account is none. */
  readonly subjectUsername: string;
}

/** Requests that a preview shows. */
const SHOWN_MAX = 10;

/** Counts what a draft meets, request by request. */
export class Scan {
  readonly #rule: ReadRule;
  readonly #shape: ReturnType<typeof shapeOf>;
  readonly #steps = new Steps(PREVIEW_STEPS_MAX);
  readonly #statuses = Object.fromEntries(elevationStatuses.map((status) => [status, 0])) as Record<
    Scanned["status"],
    number
  >;
  readonly #sample: Scanned[] = [];
  #scanned = 0;
  #matched = 0;

  constructor(draft: Criteria, groups: SignerGroups) {
    this.#rule = readRule(draft, groups);
    this.#shape = shapeOf(draft);
  }

  get found() {
    const sample = this.#sample.map(
      ({ id, requestedAt, flowType, status, subjectUsername, targetExecutablePath, toolName }) => ({
        ...{ id, requestedAt, flowType, status, subjectUsername, targetExecutablePath, toolName },
      }),
    );
    return { totalMatched: this.#matched, totalScanned: this.#scanned, statusBreakdown: { ...this.#statuses }, sample };
  }

  /** Compares further requests; false once they cost more steps than a preview has. */
  *take(requests: readonly Scanned[]): Stepwise<boolean> {
    try {
      for (const request of requests) {
        if (this.#steps.take(lengthOf(request))) yield;
        const outcome = this.#isAbout(request)
          ? yield* judgeRule(this.#rule, factsOf(request), this.#steps)
          : undefined;
        this.#scanned += 1;
        if (outcome?.kind === "match") this.#note(request);
      }
      return true;
    } catch (error) {
      if (error instanceof OutOfSteps) return false;
      throw error;
    }
  }

  /** Compares one request criterion by criterion; undefined where that costs more steps than a preview has. */
  *compare(request: Scanned, isAtSite: boolean) {
    try {
      const facts = factsOf(request);
      const isAbout = this.#isAbout(request);
      const outcome = yield* judgeRule(this.#rule, facts, this.#steps);
      const criteria = yield* compareEach(this.#rule, facts, this.#steps);
      const matches = isAbout && isAtSite && outcome.kind === "match";
      this.#scanned += 1;
      if (matches) this.#note(request);
      return { matches, isAbout, isAtSite, isInWindow: this.#rule.isOn(facts.at), criteria };
    } catch (error) {
      if (error instanceof OutOfSteps) return undefined;
      throw error;
    }
  }

  #isAbout({ flowType }: Scanned): boolean {
    return (flowType === "ai_tool_action") === (this.#shape === "tool");
  }

  #note(request: Scanned): void {
    this.#matched += 1;
    this.#statuses[request.status] += 1;
    if (this.#sample.length < SHOWN_MAX) this.#sample.push(request);
  }
}

/** Reading a request costs as much as it is long. */
const lengthOf = ({ targetExecutablePath, parentImage, commandLine }: Scanned): number =>
  1 + [targetExecutablePath, parentImage, commandLine].reduce((sum, text) => sum + (text?.length ?? 0), 0);
