import type { ApproverDevice } from "#server/features/people/core/approver-devices";

/** As its person sees it: never the credential or its key. */
export const shownDevice = ({ id, label, isPlatformBound, transports, createdAt, lastUsedAt }: ApproverDevice) => ({
  ...{ id, label, isPlatformBound, transports, createdAt, lastUsedAt },
});
