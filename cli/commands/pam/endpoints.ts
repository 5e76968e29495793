import type { Command } from "commander";
import type { ElevationRequestsGetResult } from "#sdk/generated/models/index";
import { openContext } from "../../context.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import type { CommandSpec } from "../../manifest.ts";
import type { Run } from "../../register.ts";
import { idCalled, refuseBeginnings } from "./called.ts";
import { showRequest } from "./ledger.ts";

/** A list whose ids have room on a narrow terminal too, since they are typed behind other commands. */
export function showsShortIds(command: Command, run: Run, spec: CommandSpec): void {
  command.action(() =>
    run(async (shell, globals) => {
      const view = { columns: spec.columns, shortIds: true };
      return runEndpoint(await openContext(shell, globals), spec, { args: [], options: command.opts(), view });
    }),
  );
}

/** A command about one request takes the beginning of its id, but where nobody is asked whether it is the one. */
export function takesBeginning(command: Command, run: Run, spec: CommandSpec): void {
  const changes = spec.method !== "GET";
  command.addHelpText("after", "\nThe beginning of an id will do, as lists show it on a narrow terminal.\n");
  command.action((called: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      if (called !== undefined && changes && globals.yes) refuseBeginnings([called]);
      await checkCredential(context, spec);
      const id = called === undefined ? undefined : await idCalled(context, called);
      const print = (result: unknown) => showRequest(context, result as ElevationRequestsGetResult, spec.fields);
      return runEndpoint(context, spec, { args: [id], options: command.opts(), ...(!changes && { print }) });
    }),
  );
}
