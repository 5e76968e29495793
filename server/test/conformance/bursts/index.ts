import { auditBursts } from "./audit.ts";
import type { Burst } from "./burst.ts";
import { credentialsBursts } from "./credentials.ts";
import { elevationBursts } from "./elevations.ts";
import { fleetBursts } from "./fleet.ts";
import { integrationsBursts } from "./integrations.ts";
import { toolBursts } from "./mcp-tools.ts";
import { pamRuleBursts } from "./pam-rules.ts";
import { peopleBursts } from "./people.ts";
import { remoteBursts } from "./remote.ts";
import { signInBursts } from "./sign-in.ts";

/** Every limit of the server, by the area of the nouns that meet it. */
export const bursts: readonly Burst[] = [
  ...auditBursts,
  ...credentialsBursts,
  ...elevationBursts,
  ...fleetBursts,
  ...integrationsBursts,
  ...pamRuleBursts,
  ...peopleBursts,
  ...remoteBursts,
  ...signInBursts,
  ...toolBursts,
];
