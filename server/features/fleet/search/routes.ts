import { search } from "#contract/resources/fleet/search";
import { implement } from "#server/http/implement";
import { findByName } from "./find.ts";

export const routes = implement(search, { find: findByName });
