import { asciiDomain } from "#contract/core/email";

/** Domain of a lower-cased address: what follows its last `@`, as the domain name system writes it. */
export function domainOf(email: string): string {
  const written = email.slice(email.lastIndexOf("@") + 1);
  return asciiDomain(written) ?? written;
}
