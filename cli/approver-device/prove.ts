import { RmmError } from "#sdk/errors";
import type { Elevation } from "#sdk/generated/models/index";
import type { Context } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import { withDevice } from "./ask-device.ts";

const HIGH = 3;

/** Whether an approval of this risk takes a proof, because the person has a device to give one with. */
export async function mustProve(context: Context, { riskTier }: Pick<Elevation, "riskTier">): Promise<boolean> {
  if ((riskTier ?? 0) < HIGH) return false;
  const client = await context.client();
  try {
    const devices = await client.approverDevices.list({}, { signal: context.shell.signal }).toArray();
    return devices.length > 0;
  } catch (error) {
    // A session that another tenant's provider began sees none; the server says whether it takes one.
    if (error instanceof RmmError && (error.status === 403 || error.status === 404)) return false;
    throw error;
  }
}

/** The levels of a refusal, of one that a proof could avert. */
export function levelsOf(error: unknown): { requiredLevel: number; achievedLevel: number } | undefined {
  if (!(error instanceof RmmError) || error.code !== "STEP_UP_REQUIRED") return undefined;
  return error.details as { requiredLevel: number; achievedLevel: number };
}

/** Has a device of the person sign for a request, and decides with the proof; the page is told how that went. */
export async function withProof<R>(
  context: Context,
  { id }: Pick<Elevation, "id">,
  { mayOpen, decide }: { mayOpen: boolean; decide: (proof: string) => Promise<R> },
): Promise<R> {
  const client = await context.client();
  const { signal } = context.shell;
  const { options, pageUrl } = await client.elevationRequests.assertionChallenge({ params: { id } }, { signal });
  const { challenge, rpId: host, timeout: timeoutMs, allowCredentials = [] } = options;
  if (allowCredentials.length === 0)
    throw new CliError("This approval takes an approver device, and you have none", {
      exit: "unauthenticated",
      code: "STEP_UP_REQUIRED",
      hint: "Register one with `rmm approver-devices register`, on the machine where you approve",
    });
  return withDevice(context, { pageUrl, challenge, host, timeoutMs, what: "Approve", mayOpen }, decide);
}
