import type { Context } from "../../context.ts";
import { type RotationResult, rotationResultFields } from "../../keys/rotate-keys.ts";
import { formatOf, printAndTell } from "../../output/print.ts";

/** With --ndjson: each result on its line as soon as it is there. */
export interface StreamPrinter {
  readonly streams: boolean;
  /** Never fails: a closed pipe must not stop a rotation that has begun, and is told at the end. */
  tell(result: RotationResult): Promise<void>;
  /** All that was printed. */
  end(): string;
}

export function streamPrinter(context: Context): StreamPrinter {
  const streams = formatOf(context) === "ndjson";
  const printed: string[] = [];
  const failures: unknown[] = [];
  return {
    streams,
    tell: async (result) => {
      if (!streams || failures.length > 0) return;
      const text = printAndTell(context, result, { fields: rotationResultFields });
      await text.then(
        (one) => void printed.push(one),
        (error: unknown) => void failures.push(error),
      );
    },
    end: () => {
      if (failures.length > 0) throw failures[0];
      return printed.join("");
    },
  };
}
