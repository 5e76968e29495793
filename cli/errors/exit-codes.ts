/** What the exit code of a run means; part of the public interface. `rmm help exit-codes` prints it. */
export const exitCodes = {
  ok: [0, "done; also an empty list, or nothing to do"],
  failure: [
    1,
    "the API or something else failed, also where only the server could tell that a value is wrong (400); or several items failed, and not all for one reason",
  ],
  usage: [2, "wrong usage, a value that the command itself refuses, missing input, or declined"],
  notFound: [3, "not found"],
  unauthenticated: [4, "not signed in, or a second factor or step-up is needed"],
  forbidden: [5, "not allowed"],
  conflict: [6, "conflict or failed precondition (409, 412, 422)"],
  tryLater: [7, "try later (429, 503, could not connect, the same request is still in flight)"],
  pending: [8, "still pending: --wait ran out of time"],
  partial: [
    9,
    "some items went through, others failed or are left to a person; where none did, the code of their failure: 5, 6, 7 …",
  ],
  changes: [10, "the server differs from the file: rmm diff, and rmm plan with --detailed-exitcode"],
  chainBroken: [11, "the audit chain is broken"],
  notProvable: [12, "the audit record cannot be proved (gap, unknown key, unanchored tail when an anchor is required)"],
  unknown: [13, "outcome unknown: the call may have been carried out"],
  notRmm: [14, "the address answers, but not as an rmm server does"],
  notGenuine: [15, "the delivery of a webhook is not genuine: its signature, its time or its body"],
  interrupted: [130, "interrupted by Ctrl-C or SIGTERM"],
} as const satisfies Record<string, readonly [code: number, meaning: string]>;

export type ExitName = keyof typeof exitCodes;

export const exitCode = (name: ExitName): number => exitCodes[name][0];
