import { type Room, serverRooms } from "../check/rules.ts";

const begin = "<!-- Made by `npm run gen` from scripts/check/rules.ts. -->";
const end = "<!-- End of what is made. -->";

/** A text with the table between its marks made anew from the rules that `scripts/check` holds the imports to. */
export function withRoomTable(text: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error("server/README.md has lost the marks around its table of rooms");
  return `${text.slice(0, from)}${begin}\n${table()}${text.slice(to)}`;
}

function table(): string {
  const rows = serverRooms.map(
    (room) => `| ${room.paths.map(code).join(" ")} | ${room.owns} | ${importsText(room)} |\n`,
  );
  return `| Room | Owns | Imports |\n|---|---|---|\n${rows.join("")}`;
}

const named = (path: string): string => path.replace(/^(server\/|sdk\/(?=contract\/))/, "");
const code = (path: string): string => `\`${named(path)}\``;

/** Files of one folder are named together: `http/{call,implement}.ts`. */
function importsText({ imports, note }: Room): string {
  if (imports === "everything") return imports;
  const folders = new Map<string, string[]>();
  for (const path of imports.map(named)) {
    const [, folder = "", file = ""] = /^(.*\/)?(.*)$/.exec(path) ?? [];
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  const parts = [...folders].flatMap(([folder, files]) => {
    if (folder === "" || files.includes("")) return folder === "" ? files : [folder];
    const names = files.map((file) => file.replace(/\.ts$/, ""));
    return [`${folder}${names.length === 1 ? names[0] : `{${names.join(",")}}`}.ts`];
  });
  return [...parts.map((part) => `\`${part}\``), ...(note === undefined ? [] : [note])].join(", ");
}
