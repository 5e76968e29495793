/** What `commands/index.ts` loads in one piece. */
export { registerApply } from "./apply.ts";
export { registerDiff } from "./diff.ts";
export { registerExport } from "./export.ts";
export { registerImport } from "./import.ts";
export { registerPlan } from "./plan.ts";
export { registerSchema } from "./schema.ts";
