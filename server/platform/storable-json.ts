import { unstorable } from "#contract/core/storable";

/** A JSON value as both databases can keep it, for what comes from elsewhere than a request. */
export const storableJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(unstorable, "$1\\ufffd"));
