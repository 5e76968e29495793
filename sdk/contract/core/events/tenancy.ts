import { z } from "zod";
import { changedFields, told } from "./define.ts";

const status = () => ({ status: z.string() });
const change = () => ({ changedFields: changedFields() });

export const tenancyEvents = {
  "organization.created": told("organization", "An organization was created.", status),
  "organization.updated": told("organization", "An organization was changed.", () => ({ ...status(), ...change() })),
  "organization.deleted": told("organization", "An organization was deleted."),
  "organization.offboarding": told("organization", "The devices of an organization are told to uninstall."),
  "site.created": told("site", "A site was created."),
  "site.updated": told("site", "A site was changed.", change),
  "site.deleted": told("site", "A site was deleted."),
};
