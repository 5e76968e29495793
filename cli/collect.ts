/** Of an option that may be given several times: all that was given, in order. */
export const collect = (one: string, before: readonly string[] | undefined): string[] => [...(before ?? []), one];
