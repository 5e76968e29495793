import { z } from "zod";
import { openObject, timezone } from "./fields.ts";

const words = (max: number) => z.string().max(max).nullish();
const currency = () =>
  z
    .string()
    .regex(/^[A-Z]{3}$/, "must be an ISO 4217 code")
    .nullish();

/** A share of 0 to 1 with up to six decimals, as a number or as text. */
const rate = () =>
  z
    .union([z.number().min(0).max(1), z.string()])
    .refine((value) => /^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(String(value)), "must be 0 to 1 with up to 6 decimals")
    .nullish();

/** Terms and conditions are long. */
const BILLING_BYTES = 64 * 1024;

/** `settings` of an organization (docs/tenancy.md, "Organization settings"). */
export const organizationSettings = () =>
  openObject({
    timezone: timezone().nullish(),
    security: openObject({ requireMfa: z.boolean().nullish() }).nullish(),
    enrollment: openObject({ maxTtlMinutes: z.int().min(1).max(2_147_483_647).nullish() }).nullish(),
    billing: openObject({
      currencyCode: currency(),
      taxRate: rate(),
      taxExempt: z.boolean().nullish(),
      taxId: words(255),
      billToAddress: z.union([z.string().max(2000), z.record(z.string(), z.unknown())]).nullish(),
    }).nullish(),
  });

/** `settings.billing` of a partner (docs/tenancy.md, "Partner settings"). */
export const partnerBilling = () =>
  openObject(
    {
      currencyCode: currency(),
      defaultTaxRate: rate(),
      invoiceNumberPrefix: words(20),
      quoteNumberPrefix: words(20),
      invoiceTermsDays: z.int().min(0).max(365).nullish(),
      footer: words(5_000),
      termsAndConditions: words(20_000),
    },
    BILLING_BYTES,
  );
