import { deviceCommands } from "#contract/resources/fleet/device-commands";
import { implement } from "#server/http/implement";
import { cancelCommand } from "./cancel.ts";
import { commandView } from "./command-view.ts";
import { getTarget } from "./get-target.ts";
import { listCommands } from "./list.ts";
import { getCommand } from "./queries.ts";
import { queueCommand } from "./queue.ts";
import { queueManyCommands } from "./queue-many.ts";

export const routes = implement(deviceCommands, {
  queueMany: queueManyCommands,
  queue: queueCommand,
  list: listCommands,
  async get(call) {
    const device = await getTarget(call, call.db, call.params.id);
    return commandView(await getCommand(call.db, device, call.params.commandId));
  },
  cancel: cancelCommand,
});
