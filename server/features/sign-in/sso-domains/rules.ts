/** The TXT record that proves a domain (contract 4 §6.2). */
export const recordName = (domain: string) => `_svc-verify.${domain}`;
export const recordValue = (token: string) => `svc-domain-verify=${token}`;
