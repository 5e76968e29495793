import type { Stage } from "./stage.ts";

/** A book of customers out of one file. Returns how many organizations there are then. */
export async function bookStory({ say }: Stage): Promise<number> {
  await say.heading("Provision a book of customers from one file");
  await say.typed("cp fixtures/files/tenants.yaml .");
  await say.run(["apply", "tenants.yaml", "--yes"], { show: { head: 8, tail: 2 } });
  await say.text("Doing it again changes nothing:");
  await say.run(["plan", "tenants.yaml", "--detailed-exitcode"], { show: { head: 4, tail: 2 } });
  const columns = ["--columns", "slug,name,status,deviceCount,contractStart"];
  await say.run(["organizations", "list", "--limit", "6", ...columns]);
  return Number(await say.run(["organizations", "list", "--all", "--jq", "length"]));
}
