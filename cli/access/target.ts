import { apiKeyScopes, partnerKeyScopes } from "#contract/core/key-scopes";
import { permissions } from "#contract/core/permissions";
import { didYouMean } from "#contract/core/suggest";
import { usageError } from "../errors/cli-error.ts";
import { nouns } from "../generated/nouns.ts";
import { commandsOf } from "../generic/commands-of.ts";
import { withNounOfWords } from "../globals.ts";
import type { CommandSpec } from "../manifest.ts";
import { methodsAt, nearEndpoints } from "../near-endpoints.ts";
import { nounAliases, spellingOf } from "../noun-aliases.ts";

/** What to check: a permission or a key's scope by name, or an endpoint. */
export type Target = { readonly grant: string } | { readonly command: CommandSpec };

export const targetText = (target: Target): string =>
  "grant" in target ? target.grant : `${target.command.method} ${target.command.path}`;

export const allCommands = async (): Promise<CommandSpec[]> =>
  (await Promise.all(nouns.map(({ noun }) => commandsOf(noun)))).flat();

const grants: readonly string[] = [...new Set<string>([...permissions, ...apiKeyScopes, ...partnerKeyScopes])];

/** Reads `sites:write`, `POST /orgs/sites` (one word or two) or the command's own words, `sites create`. */
export async function targetOf(words: readonly string[]): Promise<Target> {
  const [first = "", second, ...more] = withNounOfWords(words.flatMap((word) => word.trim().split(/\s+/)));
  if (more.length > 0) throw usageError(`${words.join(" ")} is too much: one permission or one endpoint`);
  if (second === undefined && first.includes(":") && !first.includes("/")) return { grant: grantOf(first) };
  if (second === undefined) throw usageError(`${first} is no permission`, usage);
  const commands = await allCommands();
  return { command: second.includes("/") ? byPath(commands, first, second) : byName(commands, first, second) };
}

const usage = "Ask for a permission (sites:write), an endpoint (POST /orgs/sites) or a command (sites create)";

function grantOf(name: string): string {
  const found = grants.find((one) => one === name.toLowerCase());
  if (found !== undefined) return found;
  throw usageError(`There is no permission or scope ${name}${didYouMean(name, grants)}`);
}

function byPath(commands: readonly CommandSpec[], method: string, given: string): CommandSpec {
  const path = given.replace(/^(https?:\/\/[^/]+)?\/?(api\/v1\/)?/, "/").replace(/\?.*$|\/$/g, "");
  const matches = ({ path: pattern }: CommandSpec) =>
    new RegExp(`^${pattern.replace(/:\w+/g, "[^/]+")}$`, "i").test(path);
  const sameMethod = commands.filter((one) => one.method === method.toUpperCase());
  // A literal path segment takes precedence over a parameter, as on the server.
  const found = sameMethod
    .filter((one) => one.path === path || matches(one))
    .sort((a, b) => a.params.length - b.params.length)[0];
  if (found) return found;
  const others = methodsAt(commands, path);
  const near = nearEndpoints(commands, { method: method.toUpperCase(), path });
  throw usageError(
    `There is no endpoint ${method.toUpperCase()} ${path}`,
    others.length > 0 ? `It takes ${others.join(", ")}` : near.length > 0 ? `There is ${near.join(", ")}` : usage,
  );
}

function byName(commands: readonly CommandSpec[], noun: string, name: string): CommandSpec {
  const wanted = nounAliases[noun] ?? noun;
  const found = commands.find((one) => one.noun === wanted && one.name === name);
  if (found) return found;
  const names = commands.map((one) => `${spellingOf(one.noun)} ${one.name}`);
  throw usageError(`There is no command ${noun} ${name}${didYouMean(`${spellingOf(wanted)} ${name}`, names)}`, usage);
}
