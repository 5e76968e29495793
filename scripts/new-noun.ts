import { type Area, areas } from "#contract/areas";
import { newStamp } from "./gen/migrations.ts";
import { TreeEdit } from "./scaffold/edit-tree.ts";
import { addNoun } from "./scaffold/new-noun.ts";

/**
 * `npm run new-noun -- fleet device-labels "Labels of devices" devices`: a noun whose rows an organization owns, with its
 * contract, table, migration, handlers, fixtures and test.
 */
const [area = "", noun = "", summary = "", permission = ""] = process.argv.slice(2);
if (!(area in areas) || !/^[a-z][a-z-]*s$/.test(noun) || summary === "" || !/^[a-z-]+$/.test(permission)) {
  process.stderr.write(
    `usage: new-noun AREA nouns "Summary" permission-resource\nareas: ${Object.keys(areas).join(", ")}\n`,
  );
  process.exit(2);
}
const stamp = newStamp(new Date());
const tree = new TreeEdit(".");
addNoun(tree, { area: area as Area, noun, summary, permission, stamp });
for (const path of tree.write()) process.stdout.write(`wrote ${path}\n`);
process.stdout.write(`next: npm run gen && npm run format && npm test -- ${noun}; all of it: sdk/contract/README.md\n`);
