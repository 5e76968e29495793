/** What `commands/index.ts` loads in one piece. */
export { registerApply } from "./apply.ts";
export { registerExport } from "./export.ts";
export { registerImport } from "./import.ts";
export { registerPlan } from "./plan.ts";
export { registerSchema } from "./schema.ts";
