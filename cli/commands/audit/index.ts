import { openContext } from "../../context.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { commands } from "../../generated/audit-logs.ts";
import type { Arguments } from "../../generic/invocation.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { Register } from "../../register.ts";
import { registerAuditExport } from "./export.ts";
import { extendBundle } from "./pour-bundle.ts";
import { registerReading } from "./reading.ts";
import { registerAuditReport } from "./reports.ts";
import { registerRetention } from "./retention.ts";
import { registerVerify } from "./verify.ts";

/** `rmm audit list|search|show|prove|anchors|tail|verify|export|report|stats|retention`. `rmm server audit-bundle` writes bundles too. */
export const registerAudit: Register = (group, run) => {
  group.addHelpText(
    "before",
    "Examples:\n  rmm audit tail -f\n  rmm audit list --org contoso-dental --from 2026-01-01\n  rmm audit verify\n  rmm audit verify --org contoso-dental\n  rmm audit export -o audit.csv\n  rmm audit report security-events\n",
  );
  group.addHelpText("after", elsewhere);
  registerReading(group, run);
  registerVerify(group, run);
  registerAuditExport(group, run);
  registerAuditReport(group, run);
  registerRetention(group, run);
};

const elsewhere = `
The public keys of anchors, as rmm audit verify --trust takes them:
  rmm api GET /audit-logs/anchors -f each=true --jq '.publicKeys[]' >anchors.pub
A bundle to verify elsewhere is written with rmm audit export --bundle, or on
the server's machine with rmm server audit-bundle.
`;

/** A broken chain is an answer of the API, but no success for a script: \`rmm audit-logs verify\` exits 11 too. */
export const extendAuditLogs: Register = (group, run) => {
  extendBundle(group, run);
  const verify = group.commands.find((one) => one.name() === "verify")!;
  const spec = commands.find((one) => one.name === "verify")!;
  const exitOf = (result: unknown) => exitCode((result as { ok?: unknown }).ok === false ? "chainBroken" : "ok");
  verify
    .addHelpText(
      "after",
      "\nExits 11 when the chain is broken. With a verdict, and anchors kept elsewhere:\n  rmm audit verify\n",
    )
    .action(() =>
      run(async (shell, globals) => {
        const given: Arguments = { args: [], options: verify.opts(), exitOf };
        return runEndpoint(await openContext(shell, globals), spec, given);
      }),
    );
};
