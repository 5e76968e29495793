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
  await say.text("Against that file, which a person who rewrites the database cannot reach if it is kept elsewhere:");
  const strict = ["--anchor-file", "data/audit-anchors.ndjson", "--require-anchor"];
  await say.run(["audit", "verify", "--org", org, ...strict]);
  await say.text("And offline, from a file that an auditor can take away:");
  await say.run(["server", "audit-bundle", "--org", org, "--data-dir", "data", "--output", "bundle.ndjson"]);
  const verified = await say.run(["audit", "verify", "--bundle", "bundle.ndjson", ...strict]);
  return Number(/entries +([\d,]+)/.exec(verified)?.[1]?.replaceAll(",", "") ?? 0);
}
