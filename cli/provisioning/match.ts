import { contactLabel } from "./check-model.ts";
import { type FileContact, foldName, type Located } from "./model.ts";
import type { Conflict } from "./plan.ts";

export interface Matched<F, L> {
  /** Every entry of the file, with its object on the server if there is one. */
  readonly pairs: readonly { readonly file: F; readonly live: L | undefined }[];
  /** On the server, not in the file. */
  readonly rest: readonly L[];
  readonly conflicts: readonly Conflict[];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Sites and enrollment keys: by name, whatever its case; the exact spelling wins where several differ only in that. */
export function matchByName<F extends Located & { name: string }, L extends Named>(
  files: readonly F[],
  lives: readonly L[],
  what: string,
  remedy?: string,
): Matched<F, L> {
  const conflicts: Conflict[] = [];
  const pairs = files.map((file) => {
    const alike = lives.filter(({ name }) => foldName(name) === foldName(file.name));
    const exact = alike.filter(({ name }) => name === file.name);
    const candidates = exact.length > 0 ? exact : alike;
    if (candidates.length > 1) conflicts.push(ambiguous(file, `${what} named ${file.name}`, candidates, remedy));
    return { file, live: candidates[0] };
  });
  const used = new Set(pairs.map(({ live }) => live));
  return { pairs, rest: lives.filter((live) => !used.has(live)), conflicts };
}

const ambiguous = (
  { line, path }: Located,
  what: string,
  candidates: readonly { id: string }[],
  remedy = "rename or remove one",
): Conflict => ({
  line,
  path,
  message: `the server has ${candidates.length} ${what}: ${candidates.map(({ id }) => id).join(", ")}; ${remedy}`,
});

/** A contact of the server, its site by name. */
export interface KnownContact {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly mobile: string | null;
  readonly siteName: string | null;
}

type Trait = (one: {
  name?: string | null;
  email?: string | null;
  phone?: string | null;
  mobile?: string | null;
}) => string;

const emailOf: Trait = ({ email }) => email ?? "";
const nameOf: Trait = ({ name }) => foldName(name ?? "");
const numberOf: Trait = ({ name, email, phone, mobile }) => (name || email ? "" : (phone ?? mobile ?? ""));
const and =
  (...traits: Trait[]): Trait =>
  (one) => {
    const parts = traits.map((trait) => trait(one));
    return parts.includes("") ? "" : JSON.stringify(parts);
  };

/** From the surest sign of being the same person to the weakest. */
const passes: readonly { trait: Trait; sameSite: boolean }[] = [
  { trait: and(emailOf, nameOf), sameSite: true },
  { trait: and(emailOf, nameOf), sameSite: false },
  { trait: emailOf, sameSite: true },
  { trait: emailOf, sameSite: false },
  { trait: nameOf, sameSite: true },
  { trait: nameOf, sameSite: false },
  { trait: numberOf, sameSite: false },
];

/**
 * Contacts: by email, else by name, the site deciding between namesakes. Two people may share a mailbox, so email
 * and name together come first; a contact whose email changed is found by its name.
 */
export function matchContacts<L extends KnownContact>(
  files: readonly FileContact[],
  lives: readonly L[],
): Matched<FileContact, L> {
  const found = new Map<FileContact, L>();
  const conflicts = new Map<FileContact, Conflict>();
  const used = new Set<L>();
  for (const { trait, sameSite } of passes) {
    const open = grouped(
      files.filter((file) => !found.has(file)),
      trait,
    );
    const free = grouped(
      lives.filter((live) => !used.has(live)),
      trait,
    );
    for (const [value, alike] of open) {
      for (const file of alike) {
        const candidates = (free.get(value) ?? []).filter(
          (live) => !used.has(live) && (!sameSite || isSameSite(file, live)),
        );
        const rivals = alike.filter((other) => !found.has(other) && (!sameSite || other.site === file.site));
        if (candidates.length === 1 && rivals.length === 1) {
          found.set(file, candidates[0] as L);
          used.add(candidates[0] as L);
        } else if (candidates.length > 1 && !sameSite && isIdentity(trait, file) && !conflicts.has(file)) {
          conflicts.set(file, ambiguous(file, `contacts that ${contactLabel(file)} may mean`, candidates));
        }
      }
    }
  }
  return {
    pairs: files.map((file) => ({ file, live: found.get(file) })),
    rest: lives.filter((live) => !used.has(live)),
    conflicts: [...conflicts].filter(([file]) => !found.has(file)).map(([, conflict]) => conflict),
  };
}

/** By trait; what lacks it belongs to no group. */
function grouped<T extends Parameters<Trait>[0]>(all: readonly T[], trait: Trait): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const value = trait(one);
    const group = groups.get(value);
    if (group) group.push(one);
    else if (value !== "") groups.set(value, [one]);
  }
  return groups;
}

const isSameSite = (file: FileContact, live: KnownContact): boolean =>
  file.site === undefined || foldName(file.site ?? "") === foldName(live.siteName ?? "");

/** A new email of a common name is a new person, not a puzzle; a name alone is all there is to go by. */
const isIdentity = (trait: Trait, file: FileContact): boolean => trait === emailOf || (trait === nameOf && !file.email);
