import type { TimeWindow } from "#contract/core/pam-words";
import type { ListedPamRule } from "#sdk/generated/models/index";

type Matched = Extract<keyof ListedPamRule, `match${string}`> | "timeWindow" | "siteName" | "siteId";
/** Of a listed rule, or of one that is being written: what is absent is no criterion. */
export type Criteria = { readonly [K in Matched]?: ListedPamRule[K] | undefined };

const DIGEST_SHOWN = 8;
const digest = (text: string) => `${text.slice(0, DIGEST_SHOWN)}…`;
const days = ["Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"];

/** What a rule matches, for people, in a line: `path C:\Tools\**, not user pat, Mo-Fr 08:00-17:00 UTC`. */
export function summaryOf(rule: Criteria): string {
  const negated = new Set<string>(rule.matchNegate ?? []);
  const said: readonly (readonly [key: string, name: string, value: string | null | undefined])[] = [
    ["signer", "signer", rule.matchSigner],
    ["signerGroup", "signers of", rule.matchSignerGroupId && (rule.matchSignerGroupName ?? "a group")],
    ["", "certificate", rule.matchSignerThumbprint && digest(rule.matchSignerThumbprint)],
    ["hash", "SHA-256", rule.matchHash && digest(rule.matchHash)],
    ["pathGlob", "path", rule.matchPathGlob],
    ["parentImage", "parent", rule.matchParentImage],
    ["commandLine", "command", rule.matchCommandLine],
    ["user", "user", rule.matchUser],
    ["adGroup", "members of", rule.matchAdGroup],
    ["toolName", "tool", rule.matchToolName],
    ["riskTier", "tier", rule.matchRiskTier?.toString()],
  ];
  const criteria = said.flatMap(([key, name, value]) =>
    value === null || value === undefined ? [] : [`${negated.has(key) ? "not " : ""}${name} ${value}`],
  );
  const place = !rule.siteId ? [] : [`at ${rule.siteName ?? "a site"}`];
  const time = !rule.timeWindow ? [] : [windowText(rule.timeWindow)];
  return [...criteria, ...place, ...time].join(", ");
}

/** `Mo-Fr 08:00-17:00 Europe/Berlin`. */
function windowText({ start, end, days: on, timezone = "UTC" }: TimeWindow): string {
  const time = start === end ? "all day" : `${start}-${end}`;
  return [...(on === undefined ? [] : [daysText(on)]), time, timezone].join(" ");
}

/** Days side by side as a range, from Monday on. */
function daysText(on: readonly number[]): string {
  const wanted = [1, 2, 3, 4, 5, 6, 0].map((day) => on.includes(day));
  const parts: string[] = [];
  for (let at = 0; at < wanted.length; at++) {
    if (!wanted[at]) continue;
    let end = at;
    while (wanted[end + 1]) end += 1;
    const name = (place: number) => days[(place + 1) % 7]!;
    parts.push(
      end - at < 2
        ? Array.from({ length: end - at + 1 }, (_, more) => name(at + more)).join(",")
        : `${name(at)}-${name(end)}`,
    );
    at = end;
  }
  return parts.join(",");
}
