import type { SchemaChange } from "../schema-change.ts";
import { systemTrigger } from "./group-triggers.ts";

/** Groups with conditions on custom fields look again at a device whose system changes: defaults may follow it (docs/device-groups.md, "Dynamic groups"). */
export const migration: SchemaChange = { statements: systemTrigger };
