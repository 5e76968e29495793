import type { Register } from "../../register.ts";
import { registerAuditBundle } from "./audit-bundle.ts";
import { registerCreateAdmin } from "./create-admin.ts";
import { registerDoctor } from "./doctor.ts";
import { registerEvents } from "./events.ts";
import { registerMigrate } from "./migrate.ts";
import { registerRescue } from "./rescue.ts";
import { registerStart } from "./start.ts";

/** `rmm server start|migrate|create-admin|rescue|doctor|audit-bundle|events`. The server itself is loaded when one of them runs. */
export const registerServer: Register = (group, run) => {
  group.addHelpText("before", "Examples:\n  rmm server start\n  rmm server doctor\n");
  registerStart(group, run);
  registerMigrate(group, run);
  registerCreateAdmin(group, run);
  registerRescue(group, run);
  registerDoctor(group, run);
  registerAuditBundle(group, run);
  registerEvents(group, run);
};
