import { hasUnseen } from "./fold.ts";

/**
 * Whether a path is the one spelling of its file (docs/privileged-access.md, "Paths"): from a drive or `/`, and nothing
 * in it that a file system reads as something else.
 */
export function isCanonical(path: string): boolean {
  const slashed = path.replaceAll("\\", "/");
  const rooted = /^(?:[A-Za-z]:)?\/(?!\/)/.exec(slashed);
  return rooted !== null && isPlain(slashed.slice(rooted[0].length));
}

/** The same of the image of a parent process, which may be a name alone. */
export function isPlainImage(image: string): boolean {
  const slashed = image.replaceAll("\\", "/");
  return isPlain(slashed.replace(/^(?:[A-Za-z]:)?\/(?!\/)/, ""));
}

const isPlain = (rest: string): boolean =>
  !/[:%]/.test(rest) && !hasUnseen(rest) && rest.split("/").every((segment) => isPlainSegment(segment));

/** Not empty, `.` or `..`, ending in what Windows drops, or short (`PROGRA~1`). */
const isPlainSegment = (segment: string): boolean => segment !== "" && !/[. ]$|~\d/.test(segment);
