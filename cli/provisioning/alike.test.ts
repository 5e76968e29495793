import { expect, it } from "vitest";
import { alikeWarnings } from "./alike.ts";
import { importCustomers } from "./import/import-customers.ts";
import { readModel } from "./read-model.ts";

const book = (...names: string[]) =>
  `apiVersion: rmm/v1\norganizations:\n${names.map((name, at) => `  - { slug: s${at}, name: ${JSON.stringify(name)} }\n`).join("")}`;
const modelOf = async (...names: string[]) => {
  const { model, problems } = await readModel(book(...names));
  expect(problems).toEqual([]);
  return model!;
};

it("a new organization whose name looks like another's is pointed out, in the file and on the server (C65)", async () => {
  const { organizations } = await modelOf("Delta Ltd", "Ｄelta Ltd.", "Muller AG", "Echo");
  const live = [
    { slug: "mueller", name: "Müller AG" },
    { slug: "s3", name: "ECHO" },
  ];
  expect(alikeWarnings(organizations, live)).toEqual([
    "line 4: s1 is called Ｄelta Ltd., much like s0 of line 3 (Delta Ltd)",
    "line 5: s2 is called Muller AG, much like mueller on the server (Müller AG)",
  ]);
});

it("names with what nobody can see are refused at their line, in files and in imports (C65)", async () => {
  for (const char of "\u200b\u00ad\u202e\u2060") {
    const { problems } = await readModel(book("Delta", `Del${char}ta`));
    expect(problems).toMatchObject([
      { line: 4, path: "organizations[1].name", message: expect.stringContaining("U+") },
    ]);
    const { refused, file } = importCustomers(
      Buffer.from(`Company,Email\nDelta,a@x.example\nDel${char}ta,b@x.example\n`),
      {
        map: [],
        mapValue: [],
        guess: true,
      },
    );
    expect(refused).toEqual([{ line: 3, reason: expect.stringContaining("nobody can see") }]);
    expect(file.organizations).toHaveLength(1);
  }
});

it("rows of one customer in two spellings are one customer, and addresses have one form (C65)", () => {
  const text = "Company,Email\nDelta Ltd,ANA@bücher.example\nＤelta\u00a0Ltd,bob@x.example\n";
  const { file, refused } = importCustomers(Buffer.from(text), { map: [], mapValue: [], guess: true });
  expect(refused).toEqual([]);
  expect(file.organizations).toMatchObject([
    { slug: "delta-ltd", contacts: [{ email: "ana@xn--bcher-kva.example" }, { email: "bob@x.example" }] },
  ]);
});
