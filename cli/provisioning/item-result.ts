import type { ObjectKind, Step } from "./plan.ts";

/** The result of one step of a plan. */
export interface ItemResult {
  readonly organization: string;
  readonly kind: ObjectKind;
  readonly name: string;
  readonly action: Step["action"];
  /** `held`: a delete without --allow-delete. `skipped`: not tried, because of what came before. */
  readonly outcome: "done" | "failed" | "skipped" | "held";
  readonly id?: string;
  readonly fields: readonly string[];
  readonly line?: number;
  readonly sink?: string;
  /** Of a key whose sink is stdout; for programs. */
  readonly secret?: string;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly status?: number;
    readonly requestId?: string;
    readonly hint?: string;
  };
}
