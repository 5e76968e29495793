import { z } from "zod";
import { told } from "./define.ts";

const patch = () => z.object({ patchId: z.string(), title: z.string(), source: z.string(), severity: z.string() });

export const softwareEvents = {
  "patch.available": told("device", "Patches wait on a device that did not wait there before.", () => ({
    count: z.int().describe("how many"),
    patches: z.array(patch()).describe("the first 20 of them, the most severe first"),
  })),
};
