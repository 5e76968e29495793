import { z } from "zod";
import { staff } from "../../core/access.ts";
import { isVisible } from "../../core/characters.ts";
import { get, type Noun, put, resource, shape } from "../../core/endpoint.ts";
import { blankable, type FieldMeta } from "../../core/fields.ts";

/** How a partner's login page looks (docs/single-sign-on.md, "Login branding"). */
export const LoginBranding = shape("LoginBranding", () =>
  z.object({
    logoUrl: z.string().nullable().describe("https address, or an image as data:image/png;base64,…"),
    accentColor: z.string().nullable().describe("#rrggbb"),
    headline: z.string().nullable(),
  }),
);

const LOGO_MAX_CHARACTERS = 400 * 1024;
const ADDRESS_MAX_CHARACTERS = 2048;
const image = /^data:image\/(png|jpeg|webp);base64,(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** An SVG image could carry script, so only pixels are taken inline. */
function isLogo(value: string): boolean {
  if (value.startsWith("data:")) return image.test(value) && !value.endsWith(",");
  if (value.length > ADDRESS_MAX_CHARACTERS || !isVisible(value) || !URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return protocol === "https:" && username === "" && password === "";
}

const logo = () =>
  z
    .string()
    .trim()
    .max(LOGO_MAX_CHARACTERS, "must be at most 400 KB")
    .refine(isLogo, "must be an https address, or a PNG, JPEG or WebP image as a base64 data URI")
    .nullable()
    .meta({ published: { type: ["string", "null"], maxLength: LOGO_MAX_CHARACTERS } } satisfies FieldMeta);

const about: Noun = {
  name: "login-branding",
  summary: "Logo, colour and headline of a partner's login page",
  audits: ["partner.login_branding.update"],
};

export const loginBranding = resource(about, {
  get: get("/partners/me/login-branding", {
    summary: "Show how your partner's login page looks",
    access: staff("partner").ofOwnPartner(),
    returns: LoginBranding,
  }),
  replace: put("/partners/me/login-branding", {
    summary: "Set how your partner's login page looks",
    description: "Replaces everything: omitted fields are cleared.",
    access: staff("partner").needs("organizations:write").withFullPartnerAccess().withMfa().ofOwnPartner(),
    audit: "partner.login_branding.update",
    body: () =>
      z.strictObject({
        logoUrl: logo().default(null).describe("logo of the sign-in page: an https address, or an image as data URI"),
        accentColor: z
          .string()
          .regex(/^#[0-9a-fA-F]{6}$/, "must be #rrggbb")
          .transform((value) => value.toLowerCase())
          .nullable()
          .default(null)
          .meta({
            description: "colour of buttons and links: #1a73e8",
            published: { type: ["string", "null"], pattern: "^#[0-9a-fA-F]{6}$" },
          } satisfies FieldMeta),
        headline: blankable(120).default(null).describe("line above the sign-in form"),
      }),
    returns: LoginBranding,
  }),
});
