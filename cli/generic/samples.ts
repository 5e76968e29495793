/** Stands in examples for the id of what has no name. */
export const SAMPLE_ID = "7f1c9d7e-3f1b-4c0a-9a53-0f4f1f1a2b3c";

/** An example of the contract as a shell takes it; the contract has one for every text that must be given. */
export const shellText = (example = "text"): string => (/[\s*\\]/.test(example) ? `"${example}"` : example);
