import { patches } from "#contract/resources/software/patches";
import { implement } from "#server/http/implement";
import { showPatch } from "./get.ts";
import { listPatches } from "./list.ts";
import { listSources } from "./sources.ts";

export const routes = implement(patches, { list: listPatches, sources: listSources, get: showPatch });
