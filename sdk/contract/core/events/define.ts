import { z } from "zod";

/** One kind of event: what it is about, when it happens, and what is told of it. */
export interface EventSpec<D = Record<string, unknown>> {
  /** What the subject is: `data` names it by `<about>Id` and `<about>Name`. */
  readonly about: string;
  /** One sentence: when it is told. */
  readonly summary: string;
  /** Built on first use. */
  data(): z.ZodType<D>;
}

type Plain<T> = { [K in keyof T]: T[K] };
type Fields<A extends string, M extends z.ZodRawShape> = Plain<
  Record<`${A}Id` | `${A}Name`, string> & { [K in keyof M]: z.output<M[K]> }
>;

/**
 * A kind of event. Its data holds ids and names of its subject, status, counts, times and names of changed fields:
 * never a secret, and no id or name of another organization (docs/platform.md, "Events").
 */
export function told<A extends string, const M extends z.ZodRawShape = Record<never, never>>(
  about: A,
  summary: string,
  more?: () => M,
): EventSpec<Fields<A, M>> {
  let built: z.ZodType<Fields<A, M>> | undefined;
  return {
    about,
    summary,
    data() {
      const subject = { [`${about}Id`]: z.string().meta({ format: "uuid" }), [`${about}Name`]: z.string() };
      built ??= z.strictObject({ ...subject, ...more?.() }) as unknown as z.ZodType<Fields<A, M>>;
      return built;
    },
  };
}

/** Names of the fields that changed, never their values. */
export const changedFields = () => z.array(z.string());
