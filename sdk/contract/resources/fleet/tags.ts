import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, ref, searchText } from "../../core/fields.ts";
import { lenientInt } from "../../core/page.ts";
import { deviceStatuses, osTypes } from "./devices.ts";

/** A tag that devices carry (docs/fleet.md, "Tags"). */
export const Tag = shape("Tag", () => z.object({ tag: z.string(), name: z.string(), deviceCount: z.int() }));

export const TaggedDevice = shape("TaggedDevice", () =>
  z.object({
    id: z.string(),
    hostname: z.string(),
    displayName: z.string().nullable(),
    status: z.enum(deviceStatuses),
    osType: z.enum(osTypes),
    orgId: z.string(),
    siteId: z.string().nullable(),
    tags: z.array(z.string()),
  }),
);

const counted = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item), total: z.int() });
const whole = { kind: "whole", items: "data" } as const;

const about: Noun = {
  name: "tags",
  summary: "Tags of devices",
  audits: [],
};

export const tags = resource(about, {
  list: get("/tags", {
    summary: "List the tags of devices, the most used first",
    description: "At most 1,000; `total` counts all. Decommissioned devices do not count.",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: whole,
    columns: ["tag", "name", "deviceCount"],
    query: () =>
      z.object({
        search: searchText().optional().describe("part of the tag"),
        orgId: ref("organization").optional().describe("only tags of this organization's devices"),
      }),
    returns: () => counted(Tag()),
  }),
  devices: get("/tags/devices", {
    summary: "List the devices that carry a tag, by hostname",
    access: staff().needs("devices:read"),
    paging: whole,
    columns: ["hostname", "displayName", "status", "osType", "tags", "id"],
    query: () =>
      z.object({
        tag: z
          .string()
          .trim()
          .min(1)
          .max(50)
          .meta({ description: "the whole tag, case and all", example: "server-room" } satisfies FieldMeta),
        page: lenientInt({ default: 1, min: 1, max: 1_000_000 }).describe("page of the list, from 1"),
        limit: lenientInt({ default: 1_000, min: 1, max: 1_000 }).describe("entries of a page"),
      }),
    returns: () => counted(TaggedDevice()),
  }),
});
