import { contactLabel } from "./check-model.ts";
import { bodyOf, changedFields, createdFields, pick } from "./fields.ts";
import type { LiveContact, LiveOrganization } from "./live.ts";
import { matchContacts } from "./match.ts";
import { type FileContact, foldName } from "./model.ts";
import { deleteOf, type Part, type Step } from "./plan.ts";

const contactFields = ["name", "email", "phone", "mobile", "title", "roles", "isPrimary", "notes"];

/** Contacts: `gone` are the sites that the plan deletes. */
export function diffContacts(
  files: readonly FileContact[],
  live: LiveOrganization | undefined,
  gone: ReadonlySet<string | undefined>,
): Part {
  const names = new Map((live?.sites ?? []).map(({ id, name }) => [id, name]));
  const known = (live?.contacts ?? []).map((one) => ({
    ...one,
    siteName: one.siteId === null ? null : (names.get(one.siteId) ?? null),
  }));
  const { pairs, rest, conflicts } = matchContacts(files, known);
  const primaryPlaces = new Set(files.filter(({ isPrimary }) => isPrimary).map(({ site }) => foldName(site ?? "")));
  const steps = pairs.flatMap(({ file, live: before }): Step[] =>
    before ? updatedContact(file, before, primaryPlaces) : [createdContact(file)],
  );
  const stranded = pairs.filter(
    ({ file, live: before }) => file.site === undefined && before?.siteId && gone.has(before.siteId),
  );
  return {
    steps,
    deletes: rest.map((one) => deleteOf("contact", one.id, contactLabel(one))),
    conflicts: [
      ...conflicts,
      ...stranded.map(({ file: { line, path }, live: before }) => ({
        line,
        path,
        message: `belongs to site ${before?.siteName}, which the file does not list and would be deleted: give the contact another site, or site: null`,
      })),
    ],
    unchanged: pairs.length - steps.length,
  };
}

function createdContact(file: FileContact): Step {
  const body = pick(contactFields, { ...file });
  const changes = createdFields(file.site === undefined ? body : { ...body, site: file.site });
  return {
    action: "create",
    kind: "contact",
    name: contactLabel(file),
    line: file.line,
    changes,
    body,
    site: file.site ?? null,
  };
}

function updatedContact(
  file: FileContact,
  before: LiveContact & { siteName: string | null },
  primaryPlaces: ReadonlySet<string>,
): Step[] {
  const moves = file.site !== undefined && foldName(file.site ?? "") !== foldName(before.siteName ?? "");
  // A primary contact that moves would demote the one that the file makes primary there.
  const yields =
    moves && before.isPrimary && file.isPrimary === undefined && primaryPlaces.has(foldName(file.site ?? ""));
  const fields = changedFields(contactFields, { ...before }, { ...file, ...(yields ? { isPrimary: false } : {}) });
  const changes = moves ? [...fields, { field: "site", before: before.siteName, after: file.site ?? null }] : fields;
  if (changes.length === 0) return [];
  const about = { kind: "contact", name: contactLabel({ ...before, ...file }), line: file.line } as const;
  return [
    {
      ...about,
      action: "update",
      id: before.id,
      changes,
      body: bodyOf(fields),
      ...(moves ? { site: file.site ?? null } : {}),
    },
  ];
}
