import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { idOf, instant, ref } from "../../core/fields.ts";
import { lenientInt, paged, pageOf, pageQuery } from "../../core/page.ts";

export const incidentSeverities = ["p1", "p2", "p3", "p4"] as const;
export const incidentStatuses = ["detected", "analyzing", "contained", "recovering", "closed"] as const;
export const incidentKinds = ["tracked", "finding"] as const;
export const incidentSources = ["native", "huntress", "s1"] as const;

/** An incident that the product tracks, or a finding of a provider that is none yet (docs/alerting.md, "Incidents"). */
const FeedRow = shape("IncidentFeedRow", () =>
  z.object({
    kind: z.enum(incidentKinds),
    source: z.enum(incidentSources),
    sourceId: z.string().describe("of the incident; of a finding what its provider calls it"),
    title: z.string(),
    severity: z.enum(incidentSeverities),
    edrStatus: z.string().nullable().describe("of a finding, in the words of its provider"),
    status: z.enum(incidentStatuses).nullable().describe("of an incident"),
    deviceId: idOf("device").nullable(),
    detectedAt: instant(),
    trackedIncidentId: z.string().nullable(),
    linkOut: z.string().nullable().describe("where its provider shows a finding"),
    orgId: idOf("organization").nullable().describe("null: of a whole partner, or of the installation"),
    orgName: z.string().nullable(),
  }),
);

const about: Noun = {
  name: "incidents",
  summary: "What needs somebody's attention now",
  audits: [],
};

export const incidents = resource(about, {
  feed: get("/incidents/feed", {
    summary: "List incidents, the gravest first",
    description:
      "Those that are closed leave the list after 30 days. No endpoint-detection provider is connected, so there are no " +
      "findings.",
    access: staff().needs("alerts:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["severity", "title", "status", "orgName", "detectedAt", "deviceId", "sourceId"],
    query: () =>
      z.object({
        ...pageQuery(),
        limit: lenientInt({ default: 25, min: 1, max: 100 }).describe("entries of a page"),
        orgId: ref("organization").optional().describe("of this organization"),
        kind: z.enum(incidentKinds).optional().describe("incidents, or findings of providers"),
        source: z.enum(incidentSources).optional().describe("who found it"),
      }),
    returns: () => pageOf(FeedRow()),
  }),
});
