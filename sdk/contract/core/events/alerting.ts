import { z } from "zod";
import { told } from "./define.ts";

export const alertingEvents = {
  "incident.created": told("incident", "An incident is tracked from now on.", () => ({
    severity: z.string(),
    classification: z.string(),
  })),
};
