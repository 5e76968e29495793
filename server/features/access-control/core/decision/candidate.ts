import { foldName, foldPath, foldText, hasUnseen, trimAscii } from "./fold.ts";
import { isCanonical, isPlainImage } from "./paths.ts";

/** What is to be decided, as it was reported: null where nothing was. */
export interface Candidate {
  readonly orgId: string;
  readonly deviceId: string | null;
  /** Site of the device today. */
  readonly siteId: string | null;
  readonly flowType: "uac_intercept" | "tech_jit_admin" | "ai_tool_action";
  readonly subjectUsername: string | null;
  /** Directory groups, which are judged and never stored. */
  readonly subjectGroups: readonly string[];
  readonly targetExecutablePath: string | null;
  readonly targetExecutableHash: string | null;
  readonly targetExecutableSigner: string | null;
  readonly targetExecutableSignerThumbprint: string | null;
  readonly targetPublisher: string | null;
  readonly parentImage: string | null;
  readonly commandLine: string | null;
  readonly toolName: string | null;
  readonly riskTier: number | null;
  /** When the server received it, ISO-8601: no clock of a device has a part in it. */
  readonly receivedAt: string;
}

/** What a criterion looks at. */
export type Datum =
  | "signer"
  | "publisher"
  | "signerThumbprint"
  | "hash"
  | "path"
  | "parentImage"
  | "commandLine"
  | "user"
  | "adGroup"
  | "toolName"
  | "riskTier";

/** A candidate read for comparison: undefined is a datum that it does not carry. */
export interface Facts {
  readonly at: Date;
  readonly user: { readonly whole: string; readonly last: string } | undefined;
  readonly groups: ReadonlySet<string> | undefined;
  readonly signer: string | undefined;
  readonly publisher: string | undefined;
  readonly thumbprint: string | undefined;
  readonly hash: string | undefined;
  readonly path: readonly number[] | undefined;
  /** False of a path that is given and may be another spelling of a file. */
  readonly isPathCanonical: boolean;
  readonly parentImage: readonly number[] | undefined;
  /** A parent image is given, and counts as absent because it may be another spelling of one. */
  readonly isParentUnusable: boolean;
  readonly commandLine: readonly number[] | undefined;
  readonly toolName: string | undefined;
  readonly riskTier: number | undefined;
}

export function factsOf(candidate: Candidate): Facts {
  // Blanks alone are a path too: one that no file is known by.
  const path = candidate.targetExecutablePath || undefined;
  const parent = given(candidate.parentImage);
  const command = given(candidate.commandLine);
  const tool = given(candidate.toolName);
  const isParentUnusable = parent !== undefined && !isPlainImage(parent);
  return {
    at: instantOf(candidate.receivedAt),
    user: userOf(candidate.subjectUsername),
    groups: groupsOf(candidate.subjectGroups),
    signer: seenName(candidate.targetExecutableSigner),
    publisher: seenName(candidate.targetPublisher),
    thumbprint: digestOf(candidate.targetExecutableSignerThumbprint),
    hash: digestOf(candidate.targetExecutableHash),
    path: path === undefined ? undefined : foldPath(path),
    isPathCanonical: path === undefined || isCanonical(path),
    parentImage: parent === undefined || isParentUnusable ? undefined : foldPath(parent),
    isParentUnusable,
    commandLine: command === undefined ? undefined : foldText(command),
    toolName: tool === undefined ? undefined : foldName(tool),
    riskTier: candidate.riskTier ?? undefined,
  };
}

const given = (text: string | null): string | undefined => (text === null || trimAscii(text) === "" ? undefined : text);

function instantOf(iso: string): Date {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) throw new Error("no time of receipt");
  return at;
}

/** A name with characters that nobody sees is none: it may look like another one. */
const seenName = (text: string | null): string | undefined =>
  given(text) === undefined || hasUnseen(text!) ? undefined : foldName(text!);

const digestOf = (text: string | null): string | undefined =>
  text !== null && /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined;

function userOf(name: string | null) {
  if (given(name) === undefined) return undefined;
  const whole = foldName(name!);
  return { whole, last: whole.slice(whole.lastIndexOf("\\") + 1) };
}

function groupsOf(names: readonly string[]): ReadonlySet<string> | undefined {
  const groups = new Set(names.filter((name) => given(name) !== undefined).map(foldName));
  return groups.size === 0 ? undefined : groups;
}
