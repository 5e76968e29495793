import stringWidth from "string-width";
import { printable } from "../../output/escape.ts";
import { cut } from "../../output/wrap.ts";

export type Bar = readonly [label: string, count: number];

const LABEL_MAX = 32;
const GAP = 2;

/** A bar for each count, the longest as long as the terminal lets it be. */
export function bars(counts: readonly Bar[], width: number): string[] {
  const labels = counts.map(([label]) =>
    cut(printable(label.replaceAll(/\s+/g, " ")), Math.min(LABEL_MAX, width - 12)),
  );
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const numbers = Math.max(...counts.map(([, count]) => String(count).length));
  const widest = Math.max(...labels.map((label) => stringWidth(label)));
  const room = Math.max(1, width - widest - numbers - 2 * GAP);
  return counts.map(([, count], at) => {
    const label = labels[at] as string;
    const bar = "█".repeat(count === 0 ? 0 : Math.max(1, Math.round((count / most) * room)));
    const space = " ".repeat(widest - stringWidth(label) + GAP);
    return `${label}${space}${String(count).padStart(numbers)}${" ".repeat(GAP)}${bar}`;
  });
}
