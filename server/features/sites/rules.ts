import { invalid } from "#server/problem";

/** `orgId` and `organizationId` mean the same; two different ones are refused rather than one of them ignored. */
export function orgFilter(query: { orgId?: string; organizationId?: string }): string | undefined {
  const { orgId, organizationId } = query;
  if (orgId !== undefined && organizationId !== undefined && orgId !== organizationId) {
    throw invalid({ path: "organizationId", message: "organizationId and orgId name different organizations" });
  }
  return orgId ?? organizationId;
}
