/** Characters of texts that one function remembers; a text counts for more than it is long, as its result does. */
const CHARACTERS_MAX = 500_000;
const BESIDE = 100;

/**
 * The same function, which remembers what it made of the texts that come again. Its results depend on the text alone and
 * are never changed, so that none can be out of date. What is too much is forgotten whole.
 */
export function remembered<R>(make: (text: string) => R): (text: string) => R {
  let known = new Map<string, R>();
  let characters = 0;
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    characters += text.length + BESIDE;
    if (characters > CHARACTERS_MAX) {
      known = new Map();
      characters = text.length + BESIDE;
    }
    known.set(text, made);
    return made;
  };
}
