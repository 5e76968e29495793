import { previewLimit } from "#server/features/access-control/pam-rules/preview";
import { always, type Burst, useUp } from "./burst.ts";

export const pamRuleBursts: readonly Burst[] = [
  {
    limit: "pam-rule-preview",
    noun: "pam-rules",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, previewLimit, userId, 4);
      return always("pamRules.preview", { tenant, token });
    },
  },
];
