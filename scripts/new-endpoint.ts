import { TreeEdit } from "./scaffold/edit-tree.ts";
import { addEndpoint, type NewEndpoint } from "./scaffold/new-endpoint.ts";

/** `npm run new-endpoint -- POST "/orgs/sites/:id/close" sites close "Close a site"`: see `scaffold/new-endpoint.ts`. */
const [method = "", path = "", noun = "", verb = "", summary = ""] = process.argv.slice(2);
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
if (!methods.includes(method) || !path.startsWith("/") || !/^[a-z]\w*$/.test(verb) || summary === "") {
  process.stderr.write('usage: new-endpoint METHOD "/path/:id" noun verb "Summary"\n');
  process.exit(2);
}
const tree = new TreeEdit(".");
addEndpoint(tree, { method: method as NewEndpoint["method"], path, noun, verb, summary });
for (const written of tree.write()) process.stdout.write(`wrote ${written}\n`);
process.stdout.write(`next: npm run gen && npm run format && npm test -- ${noun}; all of it: sdk/contract/README.md\n`);
