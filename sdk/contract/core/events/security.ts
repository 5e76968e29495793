import { z } from "zod";
import { instant } from "../fields.ts";
import { told } from "./define.ts";

export const securityEvents = {
  "security.threat_detected": told("device", "A threat was found on a device.", () => ({
    threatId: z.string().meta({ format: "uuid" }),
    threatName: z.string(),
    category: z.string().nullable(),
    severity: z.string(),
    status: z.string(),
    detectedAt: instant(),
  })),
};
