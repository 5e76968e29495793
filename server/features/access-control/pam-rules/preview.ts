import type { Endpoint } from "#contract/core/endpoint";
import type { pamRules } from "#contract/resources/access-control/pam-rules";
import { takeAttempt } from "#server/access/attempts";
import { orgByRule } from "#server/access/org-access";
import type { Limit } from "#server/access/rate-limit";
import { type Call, user } from "#server/http/call";
import { DAY } from "#server/platform/clock";
import { problem } from "#server/problem";
import { signersOf } from "../core/decision/decide-report.ts";
import { inTurns } from "../core/decision/steps.ts";
import { stored } from "./columns.ts";
import { refuseMisplaced } from "./place.ts";
import { Scan } from "./scan.ts";
import { newestRequests, oneRequest } from "./scanned-requests.ts";
import { refuseMisshapen } from "./shape.ts";

type PreviewCall = typeof pamRules.preview extends Endpoint<infer T> ? Call<T> : never;

/** Per user: each may match 5,000 requests. */
export const previewLimit: Limit = { name: "pam-rule-preview", max: 10, windowSeconds: 60 };

/**
 * What a rule would have met (docs/privileged-access.md, "Previews"). It reads only, asks this rule alone, and lets others on
 * every 10 ms.
 */
export async function previewRule(call: PreviewCall) {
  const { orgId: named, windowDays, flowType, siteId, requestId, ...given } = call.body;
  const { id: orgId } = await orgByRule(call, named);
  const draft = stored(given);
  await refuseMisplaced(call as Call, call.db, { ...draft, orgId, siteId });
  refuseMisshapen({ ...draft, verdict: "require_approval" });
  await takeAttempt(call.services, previewLimit, user(call).userId);
  const scan = new Scan(draft, await signersOf(call.db, [draft]));
  if (requestId !== undefined) {
    const one = await oneRequest(call as Call, { orgId, siteId, id: requestId });
    if (one === undefined) throw problem("NOT_FOUND");
    const comparison = await inTurns(scan.compare(one.request, one.isAtSite));
    return {
      success: true as const,
      ...scan.found,
      windowDays,
      truncated: comparison === undefined,
      comparison: comparison ?? null,
    };
  }
  const from = new Date(call.clock.nowMs() - windowDays * DAY).toISOString();
  const asked = { orgId, siteId, flowType, from };
  let truncated = false;
  for await (const page of newestRequests(call as Call, asked)) {
    truncated = page.cut || !(await inTurns(scan.take(page.requests)));
    if (truncated) break;
  }
  return { success: true as const, ...scan.found, windowDays, truncated, comparison: null };
}
