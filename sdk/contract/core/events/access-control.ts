import { z } from "zod";
import { instant } from "../fields.ts";
import type { EventSpec } from "./define.ts";

const uuid = () => z.string().meta({ format: "uuid" });

/** Exactly this: never the command line, the input of a tool, a reason or groups (docs/elevation-requests.md, "Events"). */
const elevation = () =>
  z.strictObject({
    elevationRequestId: uuid(),
    deviceId: uuid().nullable(),
    deviceHostname: z.string().nullable(),
    flowType: z.string(),
    status: z.string(),
    subjectUsername: z.string(),
    toolName: z.string().nullable(),
    riskTier: z.int().nullable(),
    decisionSource: z.string().nullable(),
    expiresAt: instant().nullable(),
  });

export type ElevationData = z.output<ReturnType<typeof elevation>>;

function elevationTold(summary: string): EventSpec<ElevationData> {
  let built: z.ZodType<ElevationData> | undefined;
  return {
    about: "elevationRequest",
    summary,
    data() {
      built ??= elevation();
      return built;
    },
  };
}

export const accessControlEvents = {
  "elevation.requested": elevationTold("Elevated rights were asked for, and somebody must decide."),
  "elevation.approved": elevationTold("A person approved elevated rights."),
  "elevation.auto_approved": elevationTold("A rule or a software policy approved elevated rights."),
  "elevation.denied": elevationTold("Elevated rights were denied."),
  "elevation.activated": elevationTold("A device has carried an approval out."),
  "elevation.expired": elevationTold("A request or a window of elevated rights ended by the clock."),
  "elevation.revoked": elevationTold("Elevated rights were taken back."),
};
