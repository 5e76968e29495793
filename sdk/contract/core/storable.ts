/**
 * What JSON can spell and neither Postgres nor canonical JSON (RFC 8785) can hold: NUL, and halves of surrogate
 * pairs. `JSON.stringify` writes whole pairs as themselves, so of the surrogates only halves are left as escapes.
 */
export const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

export const unstorableMessage = "text must not hold the character U+0000 or half a surrogate pair";
