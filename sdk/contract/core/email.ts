import { invisibleIn } from "./characters.ts";

const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const domainPattern = new RegExp(`^(?=.{1,253}$)(${label}\\.)+(?=[a-z0-9-]*[a-z])${label}$`);

/** A domain as DNS has it, so that both ways of writing an international one meet; undefined = it is none. */
export function asciiDomain(text: string): string | undefined {
  // What has a meaning of its own in an address of the web would be taken off, or stand for something else.
  if (invisibleIn(text) !== undefined || imitates(text) || /[\s/:@?#%\\]/.test(text)) return undefined;
  const url = `https://${text.replace(/\.$/, "")}/`;
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return domainPattern.test(host) ? host : undefined;
}

const addressPattern =
  /^[^\s\u0000-\u001f@<>()[\]\\,;:"]+@[^\s\u0000-\u001f@<>()[\]\\,;:"]+\.[^\s\u0000-\u001f@<>()[\]\\,;:".]+$/;

/**
 * An email address in the one form in which it is stored and found (docs/conventions.md, "One spelling"): trimmed,
 * lower-cased, in NFC, its domain as DNS has it. Undefined: it is none, or would become another mailbox's.
 */
export function canonicalEmail(text: string): string | undefined {
  const given = text.trim();
  if (invisibleIn(given) !== undefined || imitates(given)) return undefined;
  const address = given.normalize("NFC").toLowerCase();
  if (!addressPattern.test(address)) return undefined;
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  const ascii = /^[\x21-\x7e]+$/.test(domain) ? domain : asciiDomain(domain);
  return ascii && `${address.slice(0, at)}@${ascii}`;
}

/** Full-width letters, ligatures and the Kelvin sign, which become plain letters where texts are compared. */
const imitates = (text: string): boolean =>
  [...text].some((char) => char > "\x7f" && /^[\x00-\x7f]+$/.test(char.normalize("NFKC")));
