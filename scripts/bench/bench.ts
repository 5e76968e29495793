/** A figure is a ratio of two things measured alternately within one run: machines are noisy, ratios are not. */
export interface Bench {
  readonly name: string;
  /** `max`: the ratio must not exceed the limit; `min`: it must reach it. */
  readonly limit: { readonly kind: "max" | "min"; readonly value: number };
  /** One round; each side may have its own unit, because only the ratio is compared. */
  run(): Promise<{ measured: number; against: number; unit: string }>;
  start?(): Promise<void>;
  stop?(): Promise<void>;
  /** What it measures at; benches that stand together share it. */
  readonly on?: Shared;
}

/** Takes so long to make that several benches use the same. */
export interface Shared {
  start(): Promise<void>;
  stop(): Promise<void>;
}
