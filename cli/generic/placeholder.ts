/** `<contact-id>` of `contactId`. */
export const placeholderOf = (param: string): string => `<${param.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()}>`;
