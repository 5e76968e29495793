import type { Permission } from "#contract/core/permissions";
import { holds, type UserPrincipal } from "#server/access/principal";

interface Page {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** What its reader must hold; none = everybody. */
  readonly needs?: Permission;
  /** For people of a partner alone. */
  readonly ofPartner?: true;
}

/** Pages of settings of what this server has (docs/search.md, "What is searched"). */
const pages: readonly Page[] = [
  { slug: "profile", title: "Profile", description: "Your name, password and sessions" },
  { slug: "security", title: "Security", description: "Your second factor and recovery codes" },
  { slug: "users", title: "Users", description: "People with access, and invitations", needs: "users:read" },
  { slug: "roles", title: "Roles", description: "What people may do", needs: "users:read" },
  {
    slug: "organization",
    title: "Organization",
    description: "Name, status and sites of a customer",
    needs: "organizations:read",
  },
  { slug: "api-keys", title: "API keys", description: "Credentials of programs", needs: "organizations:read" },
  {
    slug: "enrollment-keys",
    title: "Enrollment keys",
    description: "Keys that new devices join with",
    needs: "organizations:read",
  },
  {
    slug: "single-sign-on",
    title: "Single sign-on",
    description: "Identity providers and proven domains",
    needs: "organizations:read",
  },
  { slug: "webhooks", title: "Webhooks", description: "What other systems are told", needs: "organizations:read" },
  {
    slug: "custom-fields",
    title: "Custom fields",
    description: "Fields of your own on devices",
    needs: "devices:read",
  },
  {
    slug: "saved-filters",
    title: "Saved filters",
    description: "Filters of devices that are kept under a name",
    needs: "devices:read",
  },
  { slug: "partner", title: "Partner", description: "Settings of the whole partner", ofPartner: true },
];

/** Pages that this person may open and whose title or description contains the text. */
export function findSettings(who: UserPrincipal, needle: string) {
  const folded = needle.toLowerCase();
  return pages
    .filter(
      ({ needs, ofPartner }) => (needs === undefined || holds(who, needs)) && (!ofPartner || who.scope === "partner"),
    )
    .filter(({ title, description }) => [title, description].some((text) => text.toLowerCase().includes(folded)))
    .map(({ slug, title, description }) => ({
      ...{ id: `settings-${slug}`, type: "settings" as const, title, description },
      href: `/settings/${slug}`,
    }));
}
