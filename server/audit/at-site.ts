/**
 * The sites of what hangs on a device. One that stands at none cannot be placed, and nobody confined to sites reads of it:
 * an empty list would say that it is about the organization as a whole (docs/audit.md, "Who reads which entries").
 */
export const atSite = (siteId: string | null | undefined): { siteIds?: string[] } =>
  siteId ? { siteIds: [siteId] } : {};
