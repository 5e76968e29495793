import { ids } from "./test-api.ts";

/** A command line of a command written by hand that has everything it needs, and would act. */
export interface WrittenLine {
  readonly argv: readonly string[];
  readonly stdin?: string;
  /** A field of what it prints. */
  readonly field?: string;
  readonly signedIn?: "file";
  /** Too long to run for each flag; what its flags do is shown elsewhere. */
  readonly long?: true;
}

/** One for each written command of the tree, with files in `dir`. */
export const writtenLines = (dir: string): Readonly<Record<string, WrittenLine>> => {
  const place = ["--data-dir", `${dir}/data`];
  return {
    "auth login": {
      argv: ["--email", "a@b.example", "--password-stdin", "--store=file"],
      stdin: "Secret-Value-1",
      field: "account",
    },
    "auth logout": { argv: [], field: "signedOut" },
    "auth status": { argv: [], field: "source" },
    "auth token": { argv: [], field: "accessToken" },
    "auth memberships": { argv: [], field: "id" },
    "auth switch": { argv: ["Harbor"], signedIn: "file", field: "account" },
    "auth can-i": { argv: ["--list"], field: "allowed" },
    "auth mfa setup": { argv: ["--current-password-stdin"], stdin: "Secret-Value-1", field: "secret" },
    "profile add": { argv: ["third", "--server", "http://127.0.0.1:9"], field: "name" },
    "profile use": { argv: ["other"], field: "name" },
    "profile list": { argv: [], field: "name" },
    "profile remove": { argv: ["other", "--yes"], field: "removed" },
    "config explain": { argv: [], field: "value" },
    "keys list": { argv: ["--kind", "enrollment-key"], field: "name" },
    "keys rotate": { argv: [ids.twin, "--kind", "enrollment-key", "--yes"], field: "secret" },
    "saved-filters explain": { argv: ["--where", "siteId = HQ"], field: "conditions" },
    "saved-filters fields": { argv: [], field: "name" },
    "saved-filters save": { argv: ["Kiosks", "--where", "siteId = HQ"], field: "id" },
    "devices export": { argv: [], field: "hostname" },
    "devices import": { argv: [`${dir}/devices.csv`], field: "outcome" },
    "devices set": { argv: ["pc-1", "--field", "rack=7"], field: "outcome" },
    "devices run": { argv: ["reboot", ids.twin, "--yes"], field: "outcome" },
    "elevation-requests approve": { argv: [ids.twin, ids.hq, "--yes"], field: "outcome" },
    "elevation-requests deny": { argv: [ids.twin, ids.hq, "--yes"], field: "outcome" },
    "pam-rules test": { argv: ["--against", ids.twin, "--match-user", "pat"], field: "matches" },
    "pam-rules reorder": { argv: ["Deny games", "--first", "--yes"], field: "outcome" },
    "elevation-requests stats": { argv: [], field: "requests" },
    plan: { argv: [`${dir}/tenants.yaml`], field: "items" },
    apply: { argv: [`${dir}/tenants.yaml`, "--yes"], field: "items" },
    diff: { argv: [`${dir}/tenants.yaml`], field: "items" },
    export: { argv: [] },
    import: { argv: [`${dir}/customers.csv`] },
    "schema provisioning": { argv: [] },
    api: { argv: ["POST", "/enrollment-keys", "-f", "name=hq"], field: "id" },
    "audit export": { argv: [] },
    "audit list": { argv: [], field: "action" },
    "audit anchors": { argv: [], field: "anchorSeq" },
    "audit prove": { argv: [ids.twin], field: "proof" },
    "audit search": { argv: ["--q", "device"], field: "action" },
    "audit show": { argv: [ids.twin], field: "action" },
    "audit tail": { argv: [], field: "action" },
    "audit retention get": { argv: [ids.contoso], field: "retentionDays" },
    "audit retention set": { argv: [ids.contoso, "--retention-days", "400", "--yes"], field: "retentionDays" },
    "audit stats": { argv: [], field: "totalEvents" },
    "audit report": { argv: ["stats"], field: "totalEvents" },
    "audit verify": { argv: [], field: "verdict" },
    "server start": { argv: ["--port", "0", ...place], long: true },
    "server migrate": { argv: place, field: "name" },
    "server create-admin": {
      argv: ["--email", "a@b.example", "--password-stdin", ...place],
      stdin: "Long-Enough-Secret-1!",
      field: "email",
    },
    "server rescue": { argv: ["a@b.example", ...place], field: "url" },
    "server doctor": { argv: place, field: "check" },
    "server events": { argv: place, field: "kind" },
    "server audit-bundle": { argv: ["--org", "contoso-dental", ...place], long: true },
    // Only Ctrl-C ends it.
    "webhooks listen": { argv: ["--forward", "http://127.0.0.1:9/"], long: true },
    "agent simulate": { argv: ["--count", "1", "--key-file", `${dir}/key`], long: true },
    "approver-devices register": { argv: ["--current-password-file", `${dir}/key`], long: true },
    "devices watch": { argv: [], long: true },
    "elevation-requests watch": { argv: [], long: true },
    // Its delivery must have been signed just now.
    "webhooks verify": { argv: ["--body-file", `${dir}/body.json`], long: true },
    quickstart: { argv: [], long: true },
    completion: { argv: ["bash"], field: "shell" },
    help: { argv: ["exit-codes"], field: "code" },
  };
};
