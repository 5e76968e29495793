import { z } from "zod";
import { holds, user } from "#server/access/principal";
import type { Call } from "#server/http/call";

/** A list as an agent sends it: bare, or under its name. */
export const listUnder = <S extends z.ZodType>(name: string, item: S) =>
  z.preprocess(
    (sent) => (Array.isArray(sent) || sent === null || typeof sent !== "object" ? sent : (sent as never)[name]),
    z.array(item),
  );

/** A word of a closed list, of the spellings that agents use; null where it is none of them. */
export const spelled = <T extends string>(words: readonly T[], spellings: Readonly<Record<string, T>>) =>
  z
    .string()
    .transform((text) => {
      const plain = text.toLowerCase().replaceAll(/[^a-z]/g, "");
      return words.find((word) => word.replaceAll("_", "") === plain) ?? spellings[plain] ?? null;
    })
    .nullable()
    .catch(null);

export const count = () => z.number().min(0).nullable().catch(null);

export const moment = () =>
  z
    .string()
    .transform((text) =>
      /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : null,
    )
    .nullable()
    .catch(null);

/** One page of what the agent sent whole. */
export function pageOfAll<T>(all: readonly T[], { page, limit }: { page: number; limit: number }) {
  const from = (page - 1) * limit;
  return { data: all.slice(from, from + limit), pagination: { page, limit, total: all.length } };
}

/** Command lines and paths carry passwords (docs/remote.md, "What is hidden"). */
export const seesCommandLines = (call: Pick<Call, "who">): boolean => holds(user(call), "devices:execute");
