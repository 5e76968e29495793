import type { ListedPamRule } from "#sdk/generated/models/index";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors/cli-error.ts";
import { ambiguousName, sameName, unknownName } from "../../../generic/name-errors.ts";

/** The rules of one organization, in the order in which they are asked. */
export async function rulesOfOrg(context: Context, orgId: string | undefined): Promise<ListedPamRule[]> {
  const client = await context.client();
  const query = orgId === undefined ? {} : { orgId };
  const rules = await client.pamRules.list({ query }, { signal: context.shell.signal }).toArray();
  if (new Set(rules.map((rule) => rule.orgId)).size > 1)
    throw usageError("These are the rules of several organizations", "Name one: --org contoso-dental");
  return rules;
}

/** The one rule of this id or name. */
export function theRule(called: string, rules: readonly ListedPamRule[]): ListedPamRule {
  const found = rules.filter(({ id, name }) => id === called || sameName(name, called));
  if (found.length === 1) return found[0]!;
  const names = rules.map(({ name }) => name);
  if (found.length === 0) throw unknownName("rule", called, names, "`rmm pam rules list` shows those that there are");
  const lines = found.map(({ id, name, verdict }) => `${id}  ${name}  ${verdict}`);
  throw ambiguousName("rule", called, lines, []);
}
