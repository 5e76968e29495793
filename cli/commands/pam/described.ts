import { elevationFacts } from "#contract/core/elevation-facts";
import type { Elevation } from "#sdk/generated/models/index";
import { relativeTime } from "../../output/relative-time.ts";

/** Everything that somebody decides on, a line each, with what nobody sees escaped; whoever prints it escapes controls. */
export const described = (request: Elevation, nowMs: number): string[] =>
  elevationFacts(request, relativeTime(request.requestedAt, nowMs) ?? request.requestedAt).map(
    ({ name, value }) => `${name.padEnd(13)}${value}`,
  );
