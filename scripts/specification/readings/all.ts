import { billing } from "./billing.ts";
import { credentials } from "./credentials.ts";
import { fleet } from "./fleet.ts";
import { identity } from "./identity.ts";
import { management } from "./management.ts";
import { operations } from "./operations.ts";
import type { Readings } from "./reading.ts";

const parts: readonly Readings[] = [identity, fleet, operations, management, credentials, billing];

/** Everything that was read by hand. */
export const readings: Readings = {
  sections: parts.flatMap(({ sections }) => sections),
  corrections: parts.flatMap(({ corrections }) => corrections),
};
