import type { FieldChange, ObjectKind } from "./field-change.ts";
import type { Step } from "./plan.ts";

/** What became of one step of a plan. */
export interface ItemResult {
  readonly outcome: Outcome;
  readonly action: Step["action"];
  readonly kind: ObjectKind;
  /** Slug, and inside an organization the name behind it: `harbor-dental/HQ`. */
  readonly key: string;
  readonly organization: string;
  readonly id?: string;
  readonly changes: readonly FieldChange[];
  /** What the file calls it, and where; no line where the file does not list it. */
  readonly item: { readonly line: number | null; readonly name: string };
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

/** `held`: a delete without --allow-delete. `skipped`: not tried, because of what came before. */
export type Outcome = "done" | "failed" | "skipped" | "held";
