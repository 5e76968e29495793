import type { Reader } from "#server/db/unit-of-work";
import { effectiveFeature } from "../../../automation/configuration-policies/effective.ts";
import type { SoftwarePolicy } from "./software-policy.ts";

/** The software policy in force on a device (docs/configuration-policies.md, "Which policy holds"). */
export async function effectiveSoftwarePolicy(db: Reader, deviceId: string): Promise<SoftwarePolicy | undefined> {
  const { settings, sourcePolicyName } = await effectiveFeature(db, { device: { id: deviceId } }, "software_policy");
  return settings === null ? undefined : { policyName: sourcePolicyName!, ...settings };
}
