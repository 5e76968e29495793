import type { Context } from "../../context.ts";
import type { Note } from "../../provisioning/note.ts";
import { noteLines } from "../../provisioning/plan-text.ts";
import { noteView } from "../../provisioning/plan-view.ts";

/** On stderr what a plan has among its lines. */
export async function tellNotes(context: Context, notes: readonly Note[]): Promise<void> {
  for (const line of notes.flatMap((note) => noteLines(noteView(note)))) await context.notice(line);
}
