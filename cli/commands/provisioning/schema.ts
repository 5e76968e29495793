import { openContext } from "../../context.ts";
import { publishedSchema } from "../../provisioning/schema.ts";
import type { Register } from "../../register.ts";
import { writeOutput } from "./write-output.ts";

/** `rmm schema provisioning`: for editors and for checking a file before it is used. */
export const registerSchema: Register = (group, run) => {
  const provisioning = group
    .command("provisioning")
    .summary("Print the JSON Schema of the provisioning file")
    .description("Print the JSON Schema (2020-12) of the file that plan and apply read")
    .option("-o, --output <path>", "write a file instead of stdout; --yes replaces one that exists")
    .addHelpText("before", "Examples:\n  rmm schema provisioning > provisioning.schema.json\n")
    .action(() =>
      run(async (shell, globals) => {
        const { output } = provisioning.opts<{ output?: string }>();
        await writeOutput(await openContext(shell, globals), `${JSON.stringify(publishedSchema(), null, 2)}\n`, output);
        return 0;
      }),
    );
};
