import { join } from "node:path";

/** What a secret is for. */
export interface SecretOf {
  /** `api-key`, `device`. */
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** Slug; null for what belongs to the partner. */
  readonly organization: string | null;
}

/**
 * `contoso-dental_api-key_ci_9f2b1a2b3c4d.key`: unique to a thing and always the same. It has the end of the id, because
 * ids begin with the time, which things with one name that were created together share.
 */
export const secretPath = (folder: string, { organization, kind, name, id }: SecretOf, ending = "key"): string =>
  join(folder, `${[organization ?? "partner", kind, name].map(plain).join("_")}_${markOf(id)}.${ending}`);

/** What of an id stands in the name of its file. */
export const markOf = (id: string): string => plain(id).slice(-12);

/** Names come from files and from people: none leads out of the folder. */
const plain = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9.-]+/g, "-")
    .replace(/^[-.]+|-+$/g, "")
    .slice(0, 60) || "key";
