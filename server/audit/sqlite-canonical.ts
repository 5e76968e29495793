import { timestampMs } from "./timestamp-ms.ts";

/**
 * SQL of the canonical content of a row in three parts: what precedes the timestamp, the timestamp, what follows.
 * `json_array` of strings is byte for byte `JSON.stringify`, and building the text in SQLite saves handing sixteen
 * strings to JavaScript for every row. `row` is a table alias or `new`. The format is fixed: never change this.
 */
export const canonicalParts = (row: string): string =>
  `json_array('al1', ${row}.id, ${row}.org_id, ${row}.partner_id), ${row}.timestamp, json_array(${row}.actor_type,
    ${row}.actor_id, ${row}.actor_email, ${row}.action, ${row}.resource_type, ${row}.resource_id, ${row}.resource_name,
    ${row}.details, ${row}.ip_address, ${row}.user_agent, ${row}.result, ${row}.error_message)`;

/** Joins the three parts; a timestamp in any but the one spelling gives a text that no writer ever hashed. */
export const joinCanonical = (before: string, timestamp: string, after: string): string =>
  `${before.slice(0, -1)},"${timestampMs(timestamp)}",${after.slice(1)}`;
