import type { Register } from "../../register.ts";
import { followDeliveries } from "./follow.ts";
import { registerListen } from "./listen.ts";
import { registerVerify } from "./verify.ts";

/** Adds what forwards events and judges deliveries, and lets those of a webhook be watched. */
export const extendWebhooks: Register = async (group, run, program) => {
  group.commands.find((one) => one.name() === "create")!.addHelpText("after", secretHelp);
  await followDeliveries(group, run, program);
  await registerListen(group.command("listen"), run, program);
  await registerVerify(group.command("verify"), run, program);
};

const secretHelp = `
Without --secret-file a secret is made, and is all that stdout gets. The
receiver checks signatures with it:
  rmm webhooks create --name pager --url https://hooks.example/rmm \\
    --events 'device.*' > webhook.secret
`;
