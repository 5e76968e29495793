import type { RefName } from "#contract/core/generated/refs";
import { type Draft, type Invocation, withValue } from "./invocation.ts";
import { refsOf, scopePlaceOf } from "./refs-of.ts";

/**
 * Second stage: sets the parameters and fields that `--org` and `--site` stand for. The default organization of the
 * profile or the environment is used only if the request names no tenant itself.
 */
export async function placeScope(invocation: Invocation): Promise<Invocation> {
  const { context, spec } = invocation;
  const { globals, settings } = context;
  const org = settings.org.value;
  const drafts = invocation.drafts.map((draft) => {
    const isDefault = globals.org === undefined;
    const withOrg = isDefault && namesTenant(invocation, draft) ? draft : placed(spec, draft, "organization", org);
    return placed(spec, withOrg, "site", globals.site);
  });
  return { ...invocation, drafts };
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
