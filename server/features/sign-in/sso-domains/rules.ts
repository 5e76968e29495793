/** The TXT record that proves a domain (docs/single-sign-on.md, "Email domains"). */
export const recordName = (domain: string) => `_svc-verify.${domain}`;
export const recordValue = (token: string) => `svc-domain-verify=${token}`;
