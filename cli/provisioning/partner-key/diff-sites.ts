import { addressParts } from "#contract/core/address";
import type { FieldChange } from "../field-change.ts";
import { changedFields, createdFields, pick, stable } from "../fields.ts";
import { matchByName } from "../match.ts";
import type { FileOrganization, FileSite, FreeObject } from "../model.ts";
import { type Left, type Note, noteFor } from "../note.ts";
import type { Conflict, Step } from "../plan.ts";
import type { ExportedOrganization, ExportedSite, ExportedState } from "./read-live.ts";

/** The parts of free objects that the partner API takes and exports, each a text. */
const shapes: Record<"address" | "contact", readonly string[]> = {
  address: addressParts,
  contact: ["name", "email", "phone"],
};
const parts = ["address", "contact"] as const;

/** Sites of one organization: a missing one is created, of the others a person hears what differs. */
export function diffSites(
  file: FileOrganization,
  organization: ExportedOrganization | undefined,
  state: ExportedState,
) {
  const live = organization ? state.sites.filter(({ orgId }) => orgId === organization.id) : [];
  const files = file.sites ?? [];
  const { pairs, rest, conflicts } = matchByName(files, live, "sites");
  const hidden = organization !== undefined && state.withheld.sitesOf.has(organization.id);
  const noteOn = noteFor(file.slug);
  const note = ({ name, line }: { name: string; line?: number }, left: Left, message: string): Note =>
    noteOn({ kind: "site", name, line }, left, message);
  const remarked = (file: FileSite, { left, message, ...more }: Remark): Note => ({
    ...note(file, left, message),
    ...more,
  });
  const missing = pairs.filter((pair) => !pair.live).map((pair) => pair.file);
  const withheld = "the export withholds sites of this organization: a person must see whether it exists";
  return {
    live,
    hidden,
    steps: hidden ? [] : missing.map(siteStep),
    notes: [
      ...(hidden ? missing.map((site) => note(site, "look", withheld)) : []),
      ...pairs.flatMap((pair) => remarks(pair.file, pair.live, hidden).map((one) => remarked(pair.file, one))),
      ...(file.sites === undefined
        ? []
        : rest.map((site) => note({ name: site.name }, "held", "the file does not list it: a person must delete it"))),
    ],
    conflicts: [...conflicts, ...files.flatMap(notText)],
    unchanged: pairs.length - missing.length,
  };
}

function siteStep(file: FileSite): Step {
  const body = {
    ...pick(["name", "timezone"], { ...file.whenNew, ...file }),
    ...Object.fromEntries(parts.flatMap((part) => (file[part] ? [[part, known(file[part], shapes[part])]] : []))),
  };
  const { name, line } = file;
  return { action: "create", kind: "site", name, line, changes: createdFields(body), body };
}

/** The part of a free object that the partner API takes, as it will be stored. */
const known = (from: FreeObject, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => (typeof from[name] === "string" ? [[name, (from[name] as string).trim()]] : [])),
  );

/** A number or a list would be left out without a word. */
const notText = (site: FileSite): Conflict[] =>
  parts.flatMap((part) =>
    shapes[part]
      .filter((name) => typeof (site[part]?.[name] ?? "") !== "string")
      .map((name) => ({
        line: site.lines[part] ?? site.line,
        path: `${site.path}.${part}.${name}`,
        message: "must be text for a partner key: put it in quotes, or let a signed-in user apply it",
      })),
  );

interface Remark {
  readonly left: Left;
  readonly message: string;
  readonly changes?: readonly FieldChange[];
  readonly unseen?: readonly string[];
}

/** What is not as the file says, as far as the export shows it, and what it cannot show. */
function remarks(file: FileSite, live: ExportedSite | undefined, hidden: boolean): Remark[] {
  const unseen = parts.flatMap((part) =>
    Object.keys(file[part] ?? {})
      .filter((name) => !shapes[part].includes(name))
      .map((name) => `${part}.${name}`),
  );
  const settings = file.settings === undefined ? [] : ["settings"];
  if (!live && !hidden) {
    // This run makes the site, so it is known what the site will lack.
    const lacking = [...unseen, ...(isEmptyField(file.settings) ? [] : settings)];
    return lacking.length === 0 ? [] : [{ left: "differs", message: cannotSet(lacking) }];
  }
  const changes = live ? differing(file, live) : [];
  const message = `differs in ${changes.map(({ field }) => field).join(", ")}: a person must change it`;
  return [
    ...(changes.length > 0 ? [{ left: "differs" as const, message, changes }] : []),
    ...unseenRemark([...settings, ...unseen]),
  ];
}

const unseenRemark = (names: readonly string[]): Remark[] =>
  names.length === 0
    ? []
    : [{ left: "look", message: unseenFields(names), unseen: names.map((name) => `${name} of sites`) }];

export const cannotSet = (names: readonly string[]): string =>
  `a partner key cannot set ${names.join(", ")}: a person must set it`;

export const unseenFields = (names: readonly string[]): string =>
  `a partner key can neither see nor set ${names.join(", ")}: a person must look`;

/** As the server has a field that nobody set. */
export const isEmptyField = (value: unknown): boolean =>
  value === undefined || value === null || stable(value) === "{}";

/** Fields, and parts of the address and the contact such as `address.region`. */
function differing(file: FileSite, live: ExportedSite): FieldChange[] {
  const own = changedFields(["name", "timezone"], { ...live }, { ...file });
  return [...own, ...parts.flatMap((part) => differingPart(part, file[part], live[part]))];
}

function differingPart(
  part: (typeof parts)[number],
  wanted: FreeObject | null | undefined,
  has: FreeObject | null,
): FieldChange[] {
  if (wanted === undefined) return [];
  if (wanted === null || has === null) {
    return (wanted === null) === (has === null) ? [] : [{ field: part, before: has, after: wanted }];
  }
  const text = known(wanted, shapes[part]);
  return shapes[part]
    .map((name) => ({ field: `${part}.${name}`, before: has[name] ?? null, after: text[name] ?? null }))
    .filter(({ before, after }) => before !== after);
}
