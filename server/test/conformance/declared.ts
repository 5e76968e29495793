import { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { possibleErrors } from "#contract/core/possible-errors";
import type { Answer } from "../harness.ts";
import { strictly } from "./strictly.ts";

interface Declared {
  codes: readonly string[];
  result: z.ZodType | undefined;
}

const declared = new Map<AnyEndpoint, Declared>();

/** Throws for an answer whose shape, status or error code is not in the contract. */
export function refuseUndeclared(endpoint: AnyEndpoint, answer: Answer): void {
  const { codes, result } = declarationOf(endpoint);
  const where = `${endpoint.method} ${endpoint.path} answered ${answer.status}`;
  if (answer.status >= 500 && !toldOfAgent(endpoint, answer))
    throw new Error(`${where}: ${JSON.stringify(answer.body)}`);
  if (answer.status >= 400) {
    if (!codes.includes(answer.body.code)) throw new Error(`${where} with the undeclared code ${answer.body.code}`);
    return;
  }
  if (![endpoint.status, endpoint.foundStatus, ...endpoint.otherStatuses].includes(answer.status as 200))
    throw new Error(`${where}, not ${endpoint.status}`);
  const parsed = result?.safeParse(answer.body);
  if (parsed?.error) throw new Error(`${where} with an undeclared shape: ${z.prettifyError(parsed.error)}`);
}

const agentCodes = ["DEVICE_OFFLINE", "AGENT_ERROR", "AGENT_BAD_RESPONSE", "AGENT_TIMEOUT"] as const;

/** Whether a call that asks an agent says that the agent is away or unwell: no fault of the server. */
export const toldOfAgent = (endpoint: AnyEndpoint, { body }: Answer): boolean =>
  agentCodes.some((code) => body?.code === code && endpoint.errors.includes(code));

/** Strict schemas are cached, because building one takes longer than a call. */
function declarationOf(endpoint: AnyEndpoint): Declared {
  const known = declared.get(endpoint);
  if (known) return known;
  const { result } = endpoint.schemas();
  const strict = result && endpoint.transport.startsWith("json") ? strictly(result) : undefined;
  const made = { codes: possibleErrors(endpoint), result: strict };
  declared.set(endpoint, made);
  return made;
}
