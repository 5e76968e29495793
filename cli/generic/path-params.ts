import type { CommandSpec } from "../manifest.ts";
import { spellingOf } from "../noun-aliases.ts";
import { scopePlaceOf, takesNames } from "./refs-of.ts";
import { calledOne, listCommandOf, sampleOf } from "./row-names.ts";
import { SAMPLE_ID, shellText } from "./samples.ts";

/** Help text of an argument. */
export function describeParam(spec: CommandSpec, param: string): string {
  const ref = spec.refs[param];
  if (ref === undefined) return "id";
  if (ref === "opaque") return `as \`rmm ${spellingOf(spec.noun)} list\` shows it`;
  const called = takesNames(spec) ? calledOne(ref) : undefined;
  if (called === undefined) {
    const list = listCommandOf(ref);
    return list === undefined ? "id" : `id, as \`rmm ${list}\` shows it`;
  }
  return `${called} of the ${ref}${isScope(spec, param) ? " (or --org)" : ""}`;
}

/** Value of an argument in an example. */
export function sampleParam(spec: CommandSpec, param: string): string {
  const ref = spec.refs[param];
  if (ref === undefined || ref === "opaque") return shellText(spec.examples[param]);
  const sample = takesNames(spec) ? sampleOf(ref) : undefined;
  if (sample === undefined) return SAMPLE_ID;
  return isScope(spec, param) ? `--org ${sample}` : sample;
}

/** Whether `--org` can replace this argument. */
function isScope(spec: CommandSpec, param: string): boolean {
  const place = scopePlaceOf(spec, "organization");
  return place?.part === "params" && place.name === param;
}
