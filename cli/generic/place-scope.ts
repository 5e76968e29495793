import type { RefName } from "#contract/core/refs";
import { type Draft, type Invocation, withValue } from "./invocation.ts";
import { refsOf, scopePlaceOf, takesRef } from "./refs-of.ts";

/**
 * Second stage: sets the parameters and fields that `--org` and `--site` stand for. The default organization of the
 * profile or the environment is used only if the request names no tenant itself.
 */
export async function placeScope(invocation: Invocation): Promise<Invocation> {
  const { context, spec } = invocation;
  const { globals, settings } = context;
  for (const flag of unusedFlags(invocation)) await context.notice(`${flag} has no effect on this command`);
  if (globals.wait) await context.notice("--wait has no effect: this command starts no job");
  const org = settings.org.value;
  const drafts = invocation.drafts.map((draft) => {
    const isDefault = globals.org === undefined;
    const withOrg = isDefault && namesTenant(invocation, draft) ? draft : placed(spec, draft, "organization", org);
    return placed(spec, withOrg, "site", globals.site);
  });
  return { ...invocation, drafts };
}

/** `--org` is also used to look up the name of a site. */
function unusedFlags({ context: { globals }, spec }: Invocation): string[] {
  const forOrg = scopePlaceOf(spec, "organization") !== undefined || takesRef(spec, "site");
  return [
    ...(globals.org !== undefined && !forOrg ? ["--org"] : []),
    ...(globals.site !== undefined && scopePlaceOf(spec, "site") === undefined ? ["--site"] : []),
  ];
}

function placed(spec: Invocation["spec"], draft: Draft, ref: RefName, value: string | undefined): Draft {
  const place = scopePlaceOf(spec, ref);
  if (place === undefined || value === undefined || draft[place.part][place.name] !== undefined) return draft;
  return withValue(draft, place.part, place.name, value);
}

const namesTenant = ({ spec }: Invocation, draft: Draft): boolean =>
  refsOf(spec).some(
    ({ part, name, ref }) => (ref === "organization" || ref === "partner") && draft[part][name] !== undefined,
  );
