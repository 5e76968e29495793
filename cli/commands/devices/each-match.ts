import type { Command } from "commander";
import { type Context, openContext } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { checkCredential } from "../../generic/check-credential.ts";
import type { Arguments } from "../../generic/invocation.ts";
import { namesOf } from "../../generic/names.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { placeText } from "../../generic/subject.ts";
import type { CommandSpec } from "../../manifest.ts";
import { withSpinner } from "../../output/spinner.ts";
import type { Run } from "../../register.ts";
import { addWhere } from "../../where/option.ts";
import { type Chosen, devicesText, listedDevices } from "./chosen.ts";

interface EachMatch {
  readonly spec: CommandSpec;
  /** `--org` and `--site` are where devices go, and do not choose them. */
  readonly leaves?: boolean;
  /** Of one device that is named. */
  readonly warnings?: Arguments["warnings"];
}

/** Lets the command of one device take `--where`: every device that matches now, found once and then each by its id. */
export function addEachMatch(command: Command, run: Run, { spec, leaves = false, warnings }: EachMatch): void {
  addWhere(command).action((id: string | undefined) =>
    run(async (shell, globals) => {
      const context = await openContext(shell, globals);
      const options = command.opts<Record<string, unknown>>();
      const { where, file } = options;
      if (typeof where !== "string")
        return runEndpoint(context, spec, { args: [id], options, ...(warnings && { warnings }) });
      if (id !== undefined) throw usageError("Either name a device, or choose devices with --where");
      if (file !== undefined) throw usageError("Use either --file or --where");
      await checkCredential(context, spec);
      const devices = await withSpinner(context, "Loading", () =>
        listedDevices(leaves ? withoutPlace(context) : context, { where }),
      );
      const target = leaves ? await targetText(context) : "";
      if (devices.length > 0) await context.notice(`→ ${devicesText(devices)}${target} ${placeText(context)}`);
      else await context.notice("No device matches");
      const each = devices.map((device) => ({ args: [device.id], called: nameOf(device) }));
      return runEndpoint(context, spec, { args: [], options, each });
    }),
  );
}

/** ` to Fabrikam, HQ`: where they go. */
async function targetText(context: Context): Promise<string> {
  const { org } = context.settings;
  if (!org.value) return "";
  const names = namesOf(context);
  const name = (await names.orgName(await names.orgId(org.value))) ?? org.value;
  const { site } = context.globals;
  return ` to ${name}${site === undefined ? "" : `, ${site}`}`;
}

const nameOf = ({ orgName, orgId, hostname }: Chosen): string => `${orgName ?? orgId}/${hostname}`;

const withoutPlace = (context: Context): Context => {
  const { site: _site, ...globals } = context.globals;
  const { org } = context.settings;
  return { ...context, globals, settings: { ...context.settings, org: { ...org, value: "" } } };
};
