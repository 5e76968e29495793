import { asciiDomain } from "#contract/resources/sso-domains";

/** The TXT record that proves a domain (contract 4 §6.2). */
export const recordName = (domain: string) => `_svc-verify.${domain}`;
export const recordValue = (token: string) => `svc-domain-verify=${token}`;

/** Domain of an email address as domains are stored; undefined = it has none. */
export const domainOf = (email: string): string | undefined => asciiDomain(email.slice(email.lastIndexOf("@") + 1));
