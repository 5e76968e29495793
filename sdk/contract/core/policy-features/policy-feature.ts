import type { z } from "zod";
import type { Permission } from "../permissions.ts";

/**
 * A part of a configuration policy (docs/configuration-policies.md, "Feature types"). Each stands in a file of this
 * folder that exports `policyFeature`; a generated table collects them.
 */
export interface PolicyFeature<Settings extends z.ZodType<object> = z.ZodType<object>> {
  readonly summary: string;
  /** What a policy that carries it says. A policy wins as a whole, so what is left out has the default. */
  readonly settings: () => Settings;
  /** What holds where no policy carries it; null: nothing. */
  readonly fallback: z.output<Settings> | null;
  /** What writing a policy that has it, or gets it, takes beside `devices:write`. */
  readonly needs: readonly Permission[];
  /** Agents have it in every answer to a heartbeat. */
  readonly toldToAgents: boolean;
  /** A device that could steer itself under such settings would gain by it. */
  readonly favours?: (settings: z.output<Settings>) => boolean;
}

/** Keeps the type of the settings. */
export const feature = <S extends z.ZodType<object>>(declared: PolicyFeature<S>): PolicyFeature<S> => declared;
