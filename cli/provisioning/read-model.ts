import { withRegion } from "#contract/core/address";
import { canonicalEmail } from "#contract/core/email";
import { parseDocument } from "../input/parse-document.ts";
import { bySchema } from "./by-schema.ts";
import { checkModel } from "./check-model.ts";
import { checkSchema, pathText, type Step, type Violation } from "./check-schema.ts";
import { parseExpiry, parseInstant } from "./durations.ts";
import type {
  FileContact,
  FileKey,
  FileOrganization,
  FileProblem,
  FileSite,
  FreeObject,
  Located,
  NewSites,
  ProvisioningModel,
  Sink,
} from "./model.ts";
import { provisioningSchema } from "./schema.ts";

export type ReadModel =
  | { readonly model: ProvisioningModel; readonly problems: readonly [] }
  | { readonly model: undefined; readonly problems: readonly FileProblem[] };

/** Reads the text of a provisioning file. Either it is sound, or every problem of it is named with its line. */
export async function readModel(text: string): Promise<ReadModel> {
  const { value: written, lineOf, problems } = await parseDocument(text);
  if (problems.length > 0) return refused(problems.map((problem) => ({ ...problem, path: "" })));
  const found: Violation[] = [];
  const value = bySchema(provisioningSchema, written, (steps, message) => found.push({ steps, message }));
  const violations = [...found, ...checkSchema(provisioningSchema, value)].map(({ steps, message }) => ({
    line: lineOf(steps),
    path: pathText(steps),
    message,
  }));
  if (violations.length > 0) return refused(violations);
  const model = modelOf(value as Raw, (raw, steps) => ({
    line: lineOf(steps),
    path: pathText(steps),
    lines: Object.fromEntries(Object.keys(raw).map((key) => [key, lineOf([...steps, key])])),
  }));
  const faults = checkModel(model);
  return faults.length > 0 ? refused(faults) : { model, problems: [] };
}

const refused = (problems: FileProblem[]): ReadModel => ({
  model: undefined,
  problems: problems.toSorted((a, b) => a.line - b.line),
});

type Raw = Record<string, unknown>;
type Locate = (raw: Raw, steps: readonly Step[]) => Located;

function modelOf(raw: Raw, locate: Locate): ProvisioningModel {
  const { newSites } = given<ProvisioningModel>(raw, { newSites: (value) => newSitesOf(value as Raw, locate) });
  const organizations = (raw["organizations"] as Raw[]).map((one, at) =>
    organizationOf(one, ["organizations", at], locate),
  );
  const partner = (raw["partner"] as string | undefined)?.trim();
  if (newSites === undefined) return { partner, organizations };
  const told = (site: FileSite): FileSite => ({ ...site, whenNew: newSites });
  return {
    partner,
    newSites,
    organizations: organizations.map((one) => (one.sites ? { ...one, sites: one.sites.map(told) } : one)),
  };
}

/** Sets only what the file names, so that "absent" stays apart from "cleared". */
function given<T extends object>(raw: Raw, readers: { [K in keyof T]?: (value: unknown) => T[K] }): Partial<T> {
  const entries = Object.entries(readers).filter(([key]) => raw[key] !== undefined);
  return Object.fromEntries(
    entries.map(([key, read]) => [key, (read as (value: unknown) => unknown)(raw[key])]),
  ) as Partial<T>;
}

const same = <T>(value: unknown) => value as T;
const plainText = (value: unknown) => (value as string).trim().normalize("NFC");
const blankable = (value: unknown) => (value === null ? null : plainText(value) || null);
const email = (value: unknown) => {
  const text = blankable(value);
  return text && (canonicalEmail(text) ?? text);
};
const free = (value: unknown) => (value === "" || value === null ? null : (value as FreeObject));
const addressOf = (value: unknown) => {
  const address = free(value);
  return address && withRegion(address);
};
const freeOrEmpty = (value: unknown) => free(value) ?? {};
/** A day that no calendar has stays as it is, for `checkModel` to name. */
const instant = (value: unknown) => {
  const text = blankable(value);
  return text === null ? null : (parseInstant(text) ?? text);
};

function organizationOf(raw: Raw, steps: readonly Step[], locate: Locate): FileOrganization {
  const list =
    <T>(key: string, read: (item: Raw, at: readonly Step[], locate: Locate) => T) =>
    (value: unknown) =>
      ((value || []) as Raw[]).map((item, at) => read(item, [...steps, key, at], locate));
  return {
    ...locate(raw, steps),
    slug: (raw["slug"] as string).toLowerCase(),
    ...given<FileOrganization>(raw, {
      name: plainText,
      type: same,
      status: same,
      maxDevices: same,
      contractStart: instant,
      contractEnd: instant,
      billingContact: free,
      settings: freeOrEmpty,
      sites: list("sites", siteOf),
      contacts: list("contacts", contactOf),
      enrollmentKeys: list("enrollmentKeys", keyOf),
    }),
  };
}

const newSitesOf = (raw: Raw, locate: Locate): NewSites => ({
  ...locate(raw, ["newSites"]),
  ...given<NewSites>(raw, { timezone: plainText }),
});

const siteOf = (raw: Raw, steps: readonly Step[], locate: Locate): FileSite => ({
  ...locate(raw, steps),
  name: plainText(raw["name"]),
  ...given<FileSite>(raw, { timezone: plainText, address: addressOf, contact: free, settings: freeOrEmpty }),
});

const contactOf = (raw: Raw, steps: readonly Step[], locate: Locate): FileContact => ({
  ...locate(raw, steps),
  ...given<FileContact>(raw, {
    name: blankable,
    email,
    phone: blankable,
    mobile: blankable,
    title: blankable,
    roles: (value) => [...new Set((value || []) as string[])],
    isPrimary: same,
    site: blankable,
    notes: blankable,
  }),
});

function keyOf(raw: Raw, steps: readonly Step[], locate: Locate): FileKey {
  const expiry = (raw["expiresAt"] ?? raw["expiresIn"]) as string | undefined;
  return {
    ...locate(raw, steps),
    name: plainText(raw["name"]),
    ...given<FileKey>(raw, { site: blankable, maxUsage: same, sink: sinkOf }),
    ...(expiry === undefined ? {} : parseExpiry(expiry)),
  };
}

function sinkOf(value: unknown): Sink {
  const text = value as string;
  if (text === "stdout") return { kind: "stdout" };
  const [kind, rest] = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)];
  return kind === "file" ? { kind, path: rest } : { kind: "github-output", name: rest };
}
