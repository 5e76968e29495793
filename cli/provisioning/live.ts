import type { RmmClient } from "#sdk/client";

type Answer<Noun extends keyof RmmClient, Verb extends keyof RmmClient[Noun]> = RmmClient[Noun][Verb] extends (
  ...args: never[]
) => PromiseLike<infer T>
  ? T
  : never;

export type LiveMe = Answer<"users", "me">;
export type LiveOrg = Answer<"organizations", "get">;
export type LiveSite = Answer<"sites", "get">;
export type LiveContact = Answer<"contacts", "update">;
export type LiveKey = Answer<"enrollmentKeys", "get">;

/** An organization with what the file manages of it. A list that was not read is empty. */
export interface LiveOrganization {
  readonly organization: LiveOrg;
  readonly sites: readonly LiveSite[];
  readonly contacts: readonly LiveContact[];
  readonly keys: readonly LiveKey[];
}

/** What the server has of the organizations that the file names, by slug. */
export interface LiveState {
  readonly me: LiveMe;
  /** Where organizations are created; undefined for a caller of one organization. */
  readonly partnerId: string | undefined;
  readonly organizations: ReadonlyMap<string, LiveOrganization>;
  /** All that the caller can reach. */
  readonly known: readonly Pick<LiveOrg, "slug" | "name">[];
}
