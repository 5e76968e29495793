import { contacts } from "#contract/resources/tenancy/contacts";
import { implement } from "#server/http/implement";
import { createContact } from "./create.ts";
import { listContacts } from "./list.ts";
import { removeContact } from "./remove.ts";
import { updateContact } from "./update.ts";

export const routes = implement(contacts, {
  list: listContacts,
  create: createContact,
  update: updateContact,
  remove: removeContact,
});
