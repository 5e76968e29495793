import type { FieldChange, ObjectKind } from "./field-change.ts";

/**
 * What is left to a person. `look`: the caller cannot see it, so nobody knows whether it is as the file says.
 * `differs`: it is not, and this caller cannot change it. `lost`: an enrollment key whose secret is nowhere.
 * `held`: the file does not list it, and it stays.
 */
export type Left = "look" | "differs" | "lost" | "held";

/** Something that `apply` cannot or will not bring to what the file says. */
export interface Note {
  readonly organization: string;
  readonly kind: ObjectKind;
  readonly name: string;
  /** Where the file says so. */
  readonly line?: number | undefined;
  readonly left: Left;
  /** What differs, field by field, as far as it is known. */
  readonly changes?: readonly FieldChange[];
  readonly message: string;
  /** Of `look`: the fields or lists that were not compared, where it is not the whole object. */
  readonly unseen?: readonly string[];
  /** What to type about it. */
  readonly command?: string;
}

/** A person must change it before the server is as the file says. */
export const isForPerson = ({ left }: Note): boolean => left === "differs" || left === "lost";

/** The server is known not to be as the file says. */
export const isDifference = (note: Note): boolean => note.left !== "look";

/** Notes on the objects of one organization. */
export const noteFor =
  (organization: string) =>
  ({ kind, name, line }: Pick<Note, "kind" | "name" | "line">, left: Left, message: string): Note => ({
    organization,
    kind,
    name,
    line,
    left,
    message,
  });
