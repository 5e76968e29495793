import { isCommandType, type UserCommandType, userCommandTypes, userPayloads } from "#contract/core/command-types";
import { issueText } from "#contract/core/issue-words";
import { invalid, problem } from "#server/problem";

const isUserType = (type: string): type is UserCommandType => (userCommandTypes as readonly string[]).includes(type);

/** A type that people send with the payload it takes; everything else is refused before any device is looked at. */
export function typedPayload({ type, payload }: { type: string; payload?: Record<string, unknown> | undefined }) {
  if (type === "script") throw problem("USE_SCRIPT_ENDPOINT");
  if (!isUserType(type))
    throw problem("COMMAND_TYPE_NOT_ALLOWED", { details: { type: isCommandType(type) ? type : null } });
  const parsed = userPayloads[type]().safeParse(payload ?? {});
  if (parsed.success) return { type, payload: parsed.data };
  throw invalid(
    ...parsed.error.issues.slice(0, 50).map((issue) => {
      const path = ["payload", ...issue.path.map(String)].join(".");
      return { path, message: `${path}: ${issueText(issue)}` };
    }),
  );
}
