import type { FieldChange, ObjectKind } from "./field-change.ts";
import type { FileKey } from "./model.ts";
import { isDifference, type Note } from "./note.ts";

/** One thing that `apply` would do. */
export interface Step {
  /** `deliver`: the key exists, its secret is fetched again within 24 hours and goes to its sink. */
  readonly action: "create" | "update" | "delete" | "deliver";
  readonly kind: ObjectKind;
  /** What a person calls the object. */
  readonly name: string;
  /** Of an object that exists. */
  readonly id?: string;
  /** Where the file says so; absent for a delete. */
  readonly line?: number;
  readonly changes: readonly FieldChange[];
  /** Fields to send, but for references. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Site by name, to be sent as `siteId`; null: none; undefined: not sent. */
  readonly site?: string | null;
  readonly key?: FileKey;
  /** Of a key that may be there, unseen: what this caller sent if it made the organization, as proof that it goes on. */
  readonly onlyIfMadeWith?: Readonly<Record<string, unknown>>;
  /** Why the server would refuse it as things stand. */
  readonly refused?: string;
}

export const deleteOf = (kind: ObjectKind, id: string, name: string, refused?: string): Step => ({
  action: "delete",
  kind,
  id,
  name,
  changes: [],
  body: {},
  ...(refused === undefined ? {} : { refused }),
});

export interface OrganizationPlan {
  readonly slug: string;
  /** Undefined: it is created. */
  readonly id: string | undefined;
  readonly organization: Step | undefined;
  readonly sites: readonly Step[];
  readonly contacts: readonly Step[];
  readonly keys: readonly Step[];
  readonly deletes: readonly Step[];
  /** Live sites by folded name. */
  readonly siteIds: ReadonlyMap<string, string>;
  readonly unchanged: number;
  readonly notes: readonly Note[];
}

/** What the file asks for that cannot be decided; a plan with conflicts is never applied. */
export interface Conflict {
  readonly line: number;
  readonly path: string;
  readonly message: string;
}

/** What comparing one kind of object gives. */
export interface Part {
  readonly steps: readonly Step[];
  readonly deletes: readonly Step[];
  readonly conflicts: readonly Conflict[];
  readonly unchanged: number;
}

export interface Plan {
  readonly partnerId: string | undefined;
  readonly organizations: readonly OrganizationPlan[];
  readonly conflicts: readonly Conflict[];
}

/** In the order they are carried out. */
export const stepsOf = ({ organization, sites, contacts, keys, deletes }: OrganizationPlan): readonly Step[] => [
  ...(organization ? [organization] : []),
  ...sites,
  ...contacts,
  ...keys,
  ...deletes,
];

/** Every step with its organization: deletes first, as a reader needs to see them. */
export function shownSteps({ organizations }: Plan, steps = stepsOf): { slug: string; step: Step }[] {
  const all = organizations.flatMap((plan) => steps(plan).map((step) => ({ slug: plan.slug, step })));
  const isDelete = ({ step }: { step: Step }) => step.action === "delete";
  return [...all.filter(isDelete), ...all.filter((one) => !isDelete(one))];
}

/** Slug, and inside an organization the name behind it. */
export const keyOf = (slug: string, { kind, name }: { kind: ObjectKind; name: string }): string =>
  kind === "organization" ? slug : `${slug}/${name}`;

export const notesOf = ({ organizations }: Plan): readonly Note[] => organizations.flatMap(({ notes }) => notes);

export const hasChanges = ({ organizations }: Plan): boolean => organizations.some((plan) => stepsOf(plan).length > 0);

/** Whether the server is known not to be as the file says: what would be changed, what is held back, what a person must do. */
export const hasDifferences = (plan: Plan): boolean => hasChanges(plan) || notesOf(plan).some(isDifference);
