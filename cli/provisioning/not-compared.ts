import { isDifference, type Note } from "./note.ts";
import { keyOf } from "./plan.ts";
import { kindNames } from "./plan-text.ts";

const MOST = 8;

/** What a caller could not look at, each once: `maxDevices, contacts`. Empty where it saw everything. */
export function notComparedText(notes: readonly Note[]): string {
  const labels = notes
    .filter((note) => !isDifference(note))
    .flatMap((note) => note.unseen ?? [`${kindNames[note.kind]} ${keyOf(note.organization, note)}`]);
  const all = [...new Set(labels)];
  return [...all.slice(0, MOST), ...(all.length > MOST ? [`${all.length - MOST} more`] : [])].join(", ");
}
