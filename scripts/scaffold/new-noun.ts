import { areas } from "#contract/areas";
import type { TreeEdit } from "./edit-tree.ts";
import { type NewNoun, namesOf } from "./names.ts";
import { contractFile } from "./noun-contract.ts";
import { fixtureFile, migrationFile, tableEntry, tableRow } from "./noun-data.ts";
import { createFile, listFile, queriesFile, removeFile, routesFile, updateFile } from "./noun-room.ts";
import { testFile } from "./noun-test.ts";

/**
 * Everything of a noun whose rows an organization owns and that have a name: list, create, get, update, remove over a
 * table of its own. It compiles, passes lint and answers; its own test is red until you say what the noun is for.
 */
export function addNoun(tree: TreeEdit, wanted: NewNoun): void {
  const names = namesOf(wanted.noun);
  if (!(wanted.area in areas)) throw new Error(`no area ${wanted.area}: ${Object.keys(areas).join(", ")}`);
  const room = `server/features/${wanted.area}/${wanted.noun}`;
  tree.add(`sdk/contract/resources/${wanted.area}/${wanted.noun}.ts`, contractFile(names, wanted));
  tree.add(`${room}/routes.ts`, routesFile(names, wanted));
  tree.add(`${room}/list.ts`, listFile(names, wanted));
  tree.add(`${room}/create.ts`, createFile(names, wanted));
  tree.add(`${room}/update.ts`, updateFile(names, wanted));
  tree.add(`${room}/remove.ts`, removeFile(names, wanted));
  tree.add(`${room}/queries.ts`, queriesFile(names));
  tree.add(`${room}/${wanted.noun}.test.ts`, testFile(names, wanted));
  tree.add(`fixtures/nouns/${wanted.area}/${wanted.noun}.ts`, fixtureFile(names, wanted));
  tree.add(`server/db/migrations/${wanted.stamp}-${wanted.area}-${wanted.noun}.ts`, migrationFile(names));
  const tables = `server/db/tables/${wanted.area}.ts`;
  tree.insertBefore(tables, /export interface \w+Tables \{/, tableRow(names));
  tree.insertAfter(tables, /export interface \w+Tables \{\n/, `  ${names.key}: ${names.plural}Table;\n`);
  tree.insertAfter(tables, /export const \w+Tables = \{\n/, tableEntry(names, wanted));
}
