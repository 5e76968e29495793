import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, put, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, ref } from "../../core/fields.ts";
import { defaultVerdicts } from "../../core/pam-words.ts";

/** What holds where no rule matches (docs/privileged-access.md, "The decision chain"). */
export const PamConfig = shape("PamConfig", () =>
  z.object({ orgId: idOf("organization"), defaultUnmatchedVerdict: z.enum(defaultVerdicts) }),
);

const about: Noun = {
  name: "pam-config",
  summary: "What happens to elevated rights that no rule decides",
  audits: ["pam.config.update"],
};

const refusals = ["ORG_ID_REQUIRED", "ORG_CONTEXT_REQUIRED", "ORG_ACCESS_DENIED"] as const;
const shown = () => z.object({ success: z.literal(true), config: PamConfig() });
const whose = (description: string) => ref("organization").optional().describe(description);

export const pamConfig = resource(about, {
  get: get("/pam/config", {
    summary: "Show what happens to elevated rights that no rule decides",
    access: staff().needs("devices:read"),
    errors: refusals,
    query: () => z.object({ orgId: whose("organization that is asked about; default: your own") }),
    returns: shown,
  }),
  replace: put("/pam/config", {
    summary: "Say what happens to elevated rights that no rule decides",
    access: staff().needs("devices:write").withMfa(),
    audit: "pam.config.update",
    errors: [...refusals, "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    body: () =>
      z.strictObject({
        orgId: whose("organization that it holds for; default: your own"),
        defaultUnmatchedVerdict: z.enum(defaultVerdicts).meta({
          description: "people decide, or nobody is elevated",
          example: "require_approval",
        } satisfies FieldMeta),
      }),
    returns: shown,
  }),
});
