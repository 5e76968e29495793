import type { Stage } from "./stage.ts";

/** The record of all this, and the proof that it is whole. Returns how many entries of the customer were checked. */
export async function auditStory({ say }: Stage, org: string): Promise<number> {
  await say.heading("Look at the audit record");
  const columns = ["--columns", "timestamp,action,result,user.name,resource.type,resource.name"];
  await say.run(["audit-logs", "logs", "--limit", "6", ...columns]);
  await say.run(["audit-logs", "search", "--q", "enrollment_key.create", "--org", org, "--limit", "3", ...columns]);

  await say.heading("Prove that nothing in it was changed or removed");
  await say.text("Your own chain, that of the partner:");
  await say.run(["audit", "verify"]);
  await say.text(
    "A customer's chain. A verification that passes leaves a signed anchor, in the database and in a file:",
  );
  await say.run(["audit", "verify", "--org", org]);
  await say.text("Against that file, which whoever rewrites the database cannot reach once it is kept elsewhere:");
  const kept = ["--anchor-file", "data/audit-anchors.ndjson"];
  await say.run(["audit", "verify", "--org", org, ...kept, "--require-anchor"]);
  await say.text("And offline, from a file that an auditor can take away:");
  await say.run(["server", "audit-bundle", "--org", org, "--data-dir", "data", "--output", "bundle.ndjson"]);
  await say.text("No anchor covers yet that the verification above was recorded, so an earlier one has to do:");
  const verified = await say.run(["audit", "verify", "--bundle", "bundle.ndjson", ...kept, "--require-anchor=any"]);
  return Number(/entries +([\d,]+)/.exec(verified)?.[1]?.replaceAll(",", "") ?? 0);
}
