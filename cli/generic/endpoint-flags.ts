import type { GlobalFlag } from "../globals.ts";
import type { CommandSpec } from "../manifest.ts";
import { calling, proving, tabular } from "../taken-flags.ts";
import { isNamedInOrg, isNamedInPartner } from "./named-rows.ts";
import { refsOf, scopePlaceOf, takesNames, takesRef } from "./refs-of.ts";
import { mints } from "./secret-fields.ts";

/** Whether `-f` gives the body, or a list of bodies. */
export const takesFile = ({ method, hasBody, params }: CommandSpec): boolean =>
  method !== "GET" && (hasBody || params.length > 0);

/** Whether that file may be a list: a tenant is deleted by itself. */
export const takesMany = (spec: CommandSpec): boolean => takesFile(spec) && spec.loses !== "tenant";

/** Whether each secret of a list can be kept in a file of its own. The tokens of a sign-in are one person's. */
export const takesSecretDir = (spec: CommandSpec): boolean =>
  mints(spec) && takesMany(spec) && !spec.access.kinds.includes("public");

/** Whether `--partner` says where the names of a request are looked up that names no partner itself. */
export const takesPartner = (spec: CommandSpec): boolean =>
  spec.access.scopes.includes("system") &&
  !takesRef(spec, "partner") &&
  refsOf(spec).some(({ ref }) => isNamedInPartner(ref));

/** The global flags that have an effect on the command of an endpoint. */
export function endpointFlags(spec: CommandSpec): GlobalFlag[] {
  const { access, paging, fields, idempotent, loses } = spec;
  const prints = tabular.filter((flag) => {
    if (flag === "no-header" || flag === "wide") return paging !== null || takesMany(spec);
    return flag !== "columns" || fields.length > 0 || takesMany(spec);
  });
  // `--org` also tells rows of one name apart.
  const byName = takesNames(spec) && refsOf(spec).some(({ ref }) => isNamedInOrg(ref));
  const hasOrg = scopePlaceOf(spec, "organization") !== undefined || byName;
  const optional: [GlobalFlag, boolean][] = [
    ["org", hasOrg],
    ["site", scopePlaceOf(spec, "site") !== undefined],
    ["limit", paging !== null],
    ["all", paging !== null],
    ["confirm", loses === "tenant" || (loses !== "nothing" && takesMany(spec))],
    ["idempotency-key", idempotent],
  ];
  return [
    ...prints,
    ...(access.kinds.includes("public") ? calling : proving),
    "dry-run",
    ...optional.filter(([, has]) => has).map(([flag]) => flag),
  ];
}
