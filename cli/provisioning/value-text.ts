/** A value for a person: an address by its parts, never as JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "(none)";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"))
    return value.join(", ");
  return isObject(value) && Object.keys(value).length > 0
    ? Object.entries(value)
        .map(([key, inner]) => `${key} ${valueText(inner)}`)
        .join(", ")
    : JSON.stringify(value);
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
