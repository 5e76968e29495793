import { canonicalEmail } from "#contract/core/email";
import { email as emailSchema } from "#contract/core/fields";
import type { AttributeMapping } from "#server/db/tables/sign-in";
import { domainOf } from "#server/features/sign-in/core/domain-of";

export type Claims = Readonly<Record<string, unknown>>;

/** What the provider says of a person, read through its attribute mapping. */
export interface Profile {
  /** Lower-cased. */
  email: string;
  domain: string;
  name: string;
  /** Undefined = the provider does not say. */
  emailVerified: boolean | undefined;
}

/** Why the claims name no person. */
type NoProfile = "email_missing" | "email_invalid" | "email_several";

/**
 * Reads the claims of the UserInfo endpoint, with those of the ID token where it is silent; or says why they name no one.
 * One "not verified" anywhere counts; a "verified" counts only for the very address that is used.
 */
export function readProfile(idToken: Claims, userInfo: Claims, mapping: AttributeMapping): Profile | NoProfile {
  const claim = (name: string | undefined) =>
    name === undefined ? undefined : (textIn(userInfo, name) ?? textIn(idToken, name));
  const given = [userInfo, idToken].map((claims) => single(own(claims, mapping.email)));
  if (given.some((value) => Array.isArray(value) && value.length > 1)) return "email_several";
  const written = claim(mapping.email);
  if (written === undefined) return "email_missing";
  const address = emailSchema().safeParse(written);
  // An address is used unchanged or not at all: one that had to be repaired could be another person's.
  if (!address.success || given.some(isRepaired)) return "email_invalid";
  const email = address.data;
  const parts = [claim(mapping.firstName), claim(mapping.lastName)].filter((part) => part !== undefined);
  const name = claim(mapping.name) ?? (parts.length > 0 ? parts.join(" ") : email);
  return {
    email,
    domain: domainOf(email),
    name: [...name].slice(0, 255).join(""),
    emailVerified: verification([userInfo, idToken], email),
  };
}

function verification(sources: readonly Claims[], email: string): boolean | undefined {
  const said = sources.map((claims) => ({
    verified: flag(own(claims, "email_verified")),
    of: textIn(claims, "email"),
  }));
  if (said.some(({ verified }) => verified === false)) return false;
  return said.some(({ verified, of }) => verified === true && of !== undefined && canonicalEmail(of) === email)
    ? true
    : undefined;
}

/** Some providers send text. Anything else says nothing. */
function flag(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  return text === "true" ? true : text === "false" ? false : undefined;
}

/** Text that `textIn` changes into other letters. Normalizing makes `K` of the Kelvin sign, which is another mailbox. */
const isRepaired = (value: unknown): boolean =>
  typeof value === "string" && (/[\u0000\u212A]/.test(value) || !value.isWellFormed());

const own = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);

/** A list of one is that one, as some directories send addresses; of several none can be chosen. */
const single = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value);

function textIn(claims: Claims, name: string): string | undefined {
  const value = single(own(claims, name));
  if (typeof value !== "string") return undefined;
  const text = value.toWellFormed().replaceAll("\u0000", "").trim().normalize("NFC");
  return text === "" ? undefined : text;
}
