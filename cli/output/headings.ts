import { escapeControls } from "./escape.ts";

/** What a person calls a field, where its name is longer or says less. */
const called: Readonly<Record<string, string>> = {
  orgName: "ORGANIZATION",
  siteName: "SITE",
  tenantName: "TENANT",
  roleName: "ROLE",
  parentRoleName: "PARENT",
  isSystem: "BUILT IN",
  userCount: "USERS",
  "user.email": "USER",
  "resource.type": "RESOURCE",
  "resource.name": "NAME",
  deviceCount: "DEVICES",
  usageCount: "USED",
  maxUsage: "AT MOST",
  entryCount: "ENTRIES",
  "currentKey.keyPrefix": "KEY PREFIX",
  "currentKey.lastUsedAt": "LAST USED",
  "hardware.processor.model": "PROCESSOR",
  "hardware.memory.totalMb": "MEMORY MB",
};

/** Heading of a column. */
export const headingOf = (name: string): string =>
  (Object.hasOwn(called, name) ? called[name] : undefined) ??
  labelOf(name.replace(/(?<=.)At$/, "").replace(/^is(?=[A-Z])/, ""));

/** A field of one object: its name in words, so that it can be found in `--json` and `--columns`. */
export const labelOf = (name: string): string =>
  escapeControls(name)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(".", " ")
    .toUpperCase();
