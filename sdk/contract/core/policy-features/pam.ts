import { z } from "zod";
import { feature } from "./policy-feature.ts";

const fallback = { uacInterceptionEnabled: false };

export const policyFeature = feature({
  summary: "whether elevation prompts are captured",
  settings: () =>
    z.strictObject({
      uacInterceptionEnabled: z
        .boolean()
        .default(fallback.uacInterceptionEnabled)
        .describe("elevation prompts on the device are captured and decided"),
    }),
  fallback,
  needs: ["pam:manage_policy"],
  toldToAgents: true,
});
