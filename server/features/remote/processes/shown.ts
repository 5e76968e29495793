import type { Call } from "#server/http/call";
import { seesCommandLines } from "../core/reported-list.ts";
import type { AnyProcess } from "./reported.ts";

export const shown = (call: Pick<Call, "who">, process: AnyProcess): AnyProcess =>
  seesCommandLines(call) ? process : { ...process, commandLine: null };
