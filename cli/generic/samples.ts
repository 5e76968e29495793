import { refs } from "#contract/core/refs";
import { sampleOf } from "./row-names.ts";

/** Stands in examples for the id of what has no name. */
export const SAMPLE_ID = "7f1c9d7e-3f1b-4c0a-9a53-0f4f1f1a2b3c";

/** What things are called in examples, by noun; others as an example names them. */
const names: Readonly<Record<string, string>> = {
  organizations: '"Contoso Dental"',
  partners: '"Summit MSP"',
  users: '"Ana Ruiz"',
  contacts: '"Ana Ruiz"',
  "custom-fields": '"Rack unit"',
  "partner-api": "HQ",
  services: "Spooler",
};

const fields: Readonly<Record<string, string>> = {
  pid: "4711",
  slug: "contoso-dental",
  domain: "contoso.example",
  hostname: "reception-pc",
  osVersion: '"Windows 11 24H2"',
  architecture: "amd64",
  agentVersion: "1.4.0",
  fieldKey: "rack_unit",
  type: "reboot",
  tag: "server-room",
  url: "https://hooks.contoso.example/rmm",
  events: "device.offline",
  q: "reception-pc",
};

/** A believable text for a field, as a shell takes it. */
export function sampleText(noun: string, field: string): string {
  if (field !== "name") return fields[field] ?? "text";
  const [ref] = Object.entries(refs).find(([, of]) => of === noun) ?? [];
  return names[noun] ?? (ref && sampleOf(ref as keyof typeof refs)) ?? "hq-rollout";
}
