import { createHash } from "node:crypto";
import { foldName } from "../model.ts";

/** Letters that do not fall apart into a base letter and a mark; Cyrillic and Greek as passports write them. */
const letters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ŋ: "ng",
  ſ: "s",
  а: "a",
  б: "b",
  в: "v",
  г: "g",
  ґ: "g",
  д: "d",
  е: "e",
  є: "ie",
  ж: "zh",
  з: "z",
  и: "i",
  і: "i",
  ї: "i",
  й: "i",
  к: "k",
  л: "l",
  м: "m",
  н: "n",
  о: "o",
  п: "p",
  р: "r",
  с: "s",
  т: "t",
  у: "u",
  ф: "f",
  х: "kh",
  ц: "ts",
  ч: "ch",
  ш: "sh",
  щ: "shch",
  ъ: "",
  ы: "y",
  ь: "",
  э: "e",
  ю: "iu",
  я: "ia",
  ђ: "dj",
  ј: "j",
  љ: "lj",
  њ: "nj",
  ћ: "c",
  џ: "dz",
  ѓ: "gj",
  ќ: "kj",
  ѕ: "dz",
  α: "a",
  β: "v",
  γ: "g",
  δ: "d",
  ε: "e",
  ζ: "z",
  η: "i",
  θ: "th",
  ι: "i",
  κ: "k",
  λ: "l",
  μ: "m",
  ν: "n",
  ξ: "x",
  ο: "o",
  π: "p",
  ρ: "r",
  σ: "s",
  ς: "s",
  τ: "t",
  υ: "y",
  φ: "f",
  χ: "ch",
  ψ: "ps",
  ω: "o",
};

interface Draft {
  readonly name: string;
  readonly slug: string;
  /** Written in plain letters and digits already. */
  readonly plain: boolean;
}

const MAX_LENGTH = 60;

/**
 * A slug for each name, from the names alone: the order of the rows and the day make no difference. Scripts that
 * have no spelling in Latin letters here get a hash of the name, and so do all but the plainest of names that
 * would collide.
 */
export function proposeSlugs(names: readonly string[], taken: ReadonlySet<string>): Map<string, string> {
  const drafts = new Map(names.map((name) => [foldName(name), draftOf(name)] as const));
  const bySlug = new Map<string, Draft[]>();
  for (const draft of drafts.values()) bySlug.set(draft.slug, [...(bySlug.get(draft.slug) ?? []), draft]);
  const keepsBare = ({ slug, plain }: Draft): boolean => {
    const rivals = bySlug.get(slug) as Draft[];
    if (taken.has(slug)) return false;
    return rivals.length === 1 || (plain && rivals.filter((rival) => rival.plain).length === 1);
  };
  return new Map(
    [...drafts].map(([key, draft]) => [key, keepsBare(draft) ? draft.slug : `${draft.slug}-${digest(draft.name, 6)}`]),
  );
}

function draftOf(name: string): Draft {
  const lower = foldName(name);
  let lost = false;
  const spelled = [...lower].map((char) => {
    const base = char.normalize("NFKD").replace(/\p{M}/gu, "");
    if (/^[a-z0-9]+$/.test(base)) return base;
    const known = letters[char] ?? letters[base];
    if (known !== undefined) return known;
    if (/['’`.]/.test(char)) return "";
    if (/[\p{L}\p{N}]/u.test(char)) lost = true;
    return "-";
  });
  const slug = shortened(spelled.join("").replace(/-+/g, "-").replace(/^-|-$/g, ""));
  if (slug === "") return { name, slug: `org-${digest(name, 8)}`, plain: false };
  return lost
    ? { name, slug: `${slug}-${digest(name, 6)}`, plain: false }
    : { name, slug, plain: /^[\x20-\x7e]*$/.test(lower) };
}

/** Cut at a word. */
function shortened(slug: string): string {
  if (slug.length <= MAX_LENGTH) return slug;
  const cut = slug.slice(0, MAX_LENGTH);
  return cut.slice(0, Math.max(cut.lastIndexOf("-"), 1) > 20 ? cut.lastIndexOf("-") : MAX_LENGTH);
}

const digest = (name: string, length: number): string =>
  createHash("sha256").update(foldName(name)).digest("hex").slice(0, length);
