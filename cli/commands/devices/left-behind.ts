import { RmmError } from "#sdk/errors";
import type { Draft, Invocation } from "../../generic/invocation.ts";
import { counted } from "../../provisioning/budget.ts";

/** What stays where a device leaves (docs/fleet.md, "Moving to another organization"), counted for this one. */
export const leftBehind = (invocation: Invocation): Promise<string[]> =>
  told(invocation).catch((error: unknown) => {
    // Who may move a device need not be able to read all that describes it.
    if (error instanceof RmmError) return [];
    throw error;
  });

async function told({ context, drafts, names }: Invocation): Promise<string[]> {
  const draft = drafts[0] as Draft;
  const client = await context.client();
  const { signal } = context.shell;
  const params = { id: draft.params["id"] as string };
  const target = draft.body["orgId"] as string;
  const commands = async (status?: "pending" | "sent") => {
    const page = await client.deviceCommands.list(
      { params, query: { limit: 1, ...(status && { status }) } },
      { signal },
    );
    return page.total ?? 0;
  };
  const device = await client.devices.get({ params }, { signal });
  const [all, pending, sent] = [await commands(), await commands("pending"), await commands("sent")];
  const fields = client.customFields.list({ query: { orgId: target, limit: 100 } }, { signal });
  const known = new Set((await fields.toArray()).map(({ fieldKey }) => fieldKey));
  const dropped = Object.keys(device.customFields ?? {}).filter((key) => !known.has(key));
  const from = [device.orgName, device.siteName].filter(Boolean).join(" / ");
  const to = (await names.orgName(target)) ?? target;
  return [
    `${device.hostname} moves from ${from} to ${to}. Its agent goes on working.`,
    `Stays behind: ${counted(all, "command")} of its history, availability and samples`,
    ...(pending > 0 ? [`Is cancelled: ${counted(pending, "command")} that its agent has not fetched`] : []),
    ...(sent > 0 ? [`Ends without an answer: ${counted(sent, "command")} that its agent is carrying out`] : []),
    ...(dropped.length > 0
      ? [`Is dropped: custom values without a field there: ${dropped.toSorted().join(", ")}`]
      : []),
    ...(device.status === "pending" ? ["Its enrollment key stops working"] : []),
  ];
}
