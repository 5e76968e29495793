/** Short names of nouns. */
export const nounAliases: Readonly<Record<string, string>> = {
  orgs: "organizations",
  commands: "device-commands",
  filters: "saved-filters",
  groups: "device-groups",
  pam: "elevation-requests",
  logs: "device-logs",
  policies: "configuration-policies",
  security: "security-posture",
  authenticator: "approver-devices",
};

/** Nouns that are shown by other words than their own name, which works too: one word, or two of which the first is a group. */
const spellings: Readonly<Record<string, string>> = {
  "elevation-requests": "pam",
  "pam-rules": "pam rules",
  "signer-groups": "pam signer-groups",
  "pam-config": "pam config",
};

/** How help, hints and errors write a noun. */
export const spellingOf = (noun: string): string => spellings[noun] ?? noun;

/** `pam-rules` of `pam rules`, also behind the group's own name; undefined where the words are no noun of two words. */
export function nounOfWords(first: string | undefined, second: string | undefined): string | undefined {
  if (first === undefined || second === undefined) return undefined;
  const group = spellingOf(nounAliases[first] ?? first);
  return Object.keys(spellings).find((noun) => spellings[noun] === `${group} ${second}`);
}

/** Nouns that stand in the group of this one, by the word that calls them there. */
export const nounsWithin = (noun: string): (readonly [word: string, noun: string])[] =>
  Object.entries(spellings).flatMap(([inner, words]) => {
    const [group, word] = words.split(" ");
    return word !== undefined && group === spellingOf(noun) ? [[word, inner] as const] : [];
  });
