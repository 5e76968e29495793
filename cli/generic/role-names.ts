import { createHash } from "node:crypto";
import { suggestions } from "#contract/core/suggest";
import type { Context } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import { commandsOf } from "./commands-of.ts";
import { idByName } from "./named-rows.ts";

/** Built-in roles have the same id in every installation, made from their name (as the server makes it). */
export function builtInRoleId(name: string): string {
  const hex = createHash("sha256").update(`rmm built-in role ${name}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A built-in role, else a custom role of the tenant. */
export async function roleOf(context: Context, name: string, partnerId?: string): Promise<string> {
  return roleIdOf(name).catch(async (error: unknown) => {
    if (!(await commandsOf("roles")).some((one) => one.name === "list")) throw error;
    return idByName(context, "role", name, { orgId: undefined, partnerId, holderId: undefined });
  });
}

/** `Partner Admin`, whatever its letter case. */
export async function roleIdOf(name: string): Promise<string> {
  const { builtInRoles } = await import("#contract/core/permissions");
  const names = builtInRoles.map((role) => role.name);
  const found = names.find((one) => one.toLowerCase() === name.trim().toLowerCase());
  if (found !== undefined) return builtInRoleId(found);
  const close = suggestions(name, names);
  throw new CliError(`There is no built-in role ${name}`, {
    exit: "notFound",
    code: "UNKNOWN_ROLE",
    hint: close.length > 0 ? `Did you mean ${close.join(" or ")}?` : `Built-in roles: ${names.join(", ")}`,
  });
}
