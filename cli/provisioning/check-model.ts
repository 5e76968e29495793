import { normalize } from "node:path";
import { canonicalEmail } from "#contract/core/email";
import { didYouMean } from "#contract/core/suggest";
import { isTimeZone, zonesLike } from "#contract/core/time-zone";
import { parseInstant } from "./durations.ts";
import {
  type FileContact,
  type FileKey,
  type FileOrganization,
  type FileProblem,
  foldName,
  type Located,
  type ProvisioningModel,
  sinkText,
} from "./model.ts";

/** What a schema cannot say: duplicates, references, dates, time zones, sizes. */
export function checkModel(model: ProvisioningModel): FileProblem[] {
  const { organizations, newSites } = model;
  const keys = organizations.flatMap(({ enrollmentKeys = [] }) => enrollmentKeys);
  return [
    ...duplicates(
      organizations,
      ({ slug }) => slug,
      ({ slug }) => `slug ${slug}`,
    ),
    ...duplicates(keys, sinkIdentity, ({ sink }) => `sink ${sink ? sinkText(sink) : ""}`),
    ...(newSites === undefined ? [] : noTimeZone(newSites)),
    ...organizations.flatMap(checkOrganization),
  ];
}

const problem = ({ line, path, lines }: Located, message: string, field?: string): FileProblem =>
  field === undefined ? { line, path, message } : { line: lines[field] ?? line, path: `${path}.${field}`, message };

const noTimeZone = (one: Located & { readonly timezone?: string }): FileProblem[] =>
  one.timezone === undefined || isTimeZone(one.timezone)
    ? []
    : [problem(one, `${one.timezone} is not an IANA time zone${zonesLike(one.timezone)}`, "timezone")];

/** Each entry that has the identity of an earlier one, with both lines. */
function duplicates<T extends Located>(
  all: readonly T[],
  identity: (one: T) => string | undefined,
  what: (one: T) => string,
): FileProblem[] {
  const first = new Map<string, T>();
  return all.flatMap((one) => {
    const id = identity(one);
    const earlier = id === undefined ? undefined : first.get(id);
    if (id !== undefined && earlier === undefined) first.set(id, one);
    return earlier ? [problem(one, `${what(one)} stands twice: lines ${earlier.line} and ${one.line}`)] : [];
  });
}

/** Two secrets cannot share a place; `stdout` is checked where the output format is known. */
const sinkIdentity = ({ sink }: FileKey): string | undefined =>
  !sink || sink.kind === "stdout" ? undefined : sink.kind === "file" ? `file:${normalize(sink.path)}` : sinkText(sink);

function checkOrganization(organization: FileOrganization): FileProblem[] {
  const { sites = [], contacts = [], enrollmentKeys = [], contractStart, contractEnd } = organization;
  const inside = `in ${organization.slug}`;
  return [
    ...badDates(organization),
    ...(contractStart && contractEnd && contractEnd < contractStart
      ? [problem(organization, "is before contractStart", "contractEnd")]
      : []),
    ...tooLarge(organization, ["billingContact", "settings"]),
    ...duplicates(
      sites,
      ({ name }) => foldName(name),
      ({ name }) => `site ${name} ${inside}`,
    ),
    ...duplicates(
      enrollmentKeys,
      ({ name }) => foldName(name),
      ({ name }) => `enrollment key ${name} ${inside}`,
    ),
    ...duplicates(contacts, contactIdentity, (one) => `contact ${contactLabel(one)} ${inside}`),
    ...duplicates(
      contacts.filter(({ isPrimary }) => isPrimary),
      ({ site }) => (site ? `site ${foldName(site)}` : "organization"),
      ({ site }) => `a primary contact of ${site ?? organization.slug}`,
    ),
    ...sites.flatMap((site) => [...noTimeZone(site), ...tooLarge(site, ["address", "contact", "settings"])]),
    ...contacts.flatMap((contact) => checkContact(contact)),
    ...enrollmentKeys.flatMap(checkKey),
    ...[...contacts, ...enrollmentKeys].flatMap((one) => unknownSite(one, organization)),
  ];
}

/** Email with name and site: a shared mailbox may belong to several people. */
const contactIdentity = ({ name, email, phone, mobile, site }: FileContact): string =>
  JSON.stringify([email ?? "", foldName(name ?? ""), email || name ? "" : (phone ?? mobile ?? ""), site ?? ""]);

export const contactLabel = ({
  name,
  email,
  phone,
  mobile,
}: Partial<Pick<FileContact, "name" | "email" | "phone" | "mobile">>): string =>
  name ?? email ?? phone ?? mobile ?? "(no name)";

/** The server's own rule for an email address. */
export const isEmail = (text: string): boolean => canonicalEmail(text) !== undefined;

function checkContact(contact: FileContact): FileProblem[] {
  const { name, email, phone, mobile } = contact;
  return [
    ...(name || email || phone || mobile ? [] : [problem(contact, "needs a name, email, phone or mobile")]),
    ...(email && !isEmail(email) ? [problem(contact, `${email} is not an email address`, "email")] : []),
  ];
}

function checkKey(key: FileKey): FileProblem[] {
  return [
    ...(key.expiresAt !== undefined && parseInstant(key.expiresAt) === undefined
      ? [
          problem(
            key,
            `${key.expiresAt} is not a date of the calendar`,
            "expiresAt" in key.lines ? "expiresAt" : "expiresIn",
          ),
        ]
      : []),
    ...("expiresAt" in key.lines && "expiresIn" in key.lines
      ? [problem(key, "expiresIn and expiresAt are one thing: give one of them")]
      : []),
  ];
}

/** A file that lists the sites lists all of them; otherwise the server is asked when planning. */
function unknownSite(one: (FileContact | FileKey) & Located, { sites, slug }: FileOrganization): FileProblem[] {
  if (!one.site || sites === undefined) return [];
  const wanted = foldName(one.site);
  if (sites.some(({ name }) => foldName(name) === wanted)) return [];
  const names = sites.map(({ name }) => name);
  return [problem(one, `${one.site} is not among the sites of ${slug}${didYouMean(one.site, names)}`, "site")];
}

function badDates(organization: FileOrganization): FileProblem[] {
  return (["contractStart", "contractEnd"] as const).flatMap((field) => {
    const value = organization[field];
    return value && parseInstant(value) === undefined
      ? [problem(organization, `${value} is not a date of the calendar`, field)]
      : [];
  });
}

const FREE_OBJECT_BYTES = 16 * 1024;

function tooLarge<T extends Located>(one: T, fields: readonly (keyof T & string)[]): FileProblem[] {
  return fields
    .filter((field) => Buffer.byteLength(JSON.stringify(one[field] ?? null)) > FREE_OBJECT_BYTES)
    .map((field) => problem(one, `must be at most ${FREE_OBJECT_BYTES} bytes`, field));
}
