import type { Register } from "../../register.ts";
import { takes, valued } from "../../taken-flags.ts";

/** `rmm agent simulate`: devices to try a server with, where there are none. */
export const registerAgent: Register = (group, run) => {
  const command = takes(group.command("simulate"), "server", "insecure-http", "profile", ...valued);
  command
    .description("Run simulated devices that enroll, report, and answer commands, until Ctrl-C")
    .usage("[flags]")
    .option("--count <n>", "number of devices", "10")
    .option("--key-file <path>", "file with the enrollment key; - is stdin. Otherwise RMM_ENROLLMENT_KEY")
    .option("--secret-file <path>", "file with the enrollment secret, where the key or the server has one")
    .option("--seed <text>", "the same seed gives the same machines", "fleet")
    .option("--os <shares>", "such as windows=60,macos=20,linux=20")
    .option("--interval <duration>", "between two heartbeats of a device", "1m")
    .option("--for <duration>", "ends by itself after so long, such as 10m")
    .option("--misbehave <kinds>", "such as slow,silent:0.2; the share is 0.1 where none is given")
    .option("--transport <how>", "how commands come: socket, one a device, or poll", "poll")
    .option("--sockets <n>", "connections of requests at once", "256")
    .option("--state <path>", "keeps who the devices are (0600): a later run goes on with them")
    .addHelpText("before", examples)
    .addHelpText("after", help)
    .action(() =>
      run(async (shell, globals) => (await import("./simulate.ts")).simulateAgents(shell, globals, command.opts())),
    );
};

const examples = `Examples:
  rmm agent simulate --count 20 --key-file hq.key
  rmm agent simulate --count 200 --key-file hq.key --state fleet.json --for 10m \\
    --misbehave slow:0.1,mute:0.02 --json
  rmm agent simulate --count 50 --key-file hq.key --transport socket
`;
const help = `
Ways to misbehave: silent (for ten intervals at a time), slow, failing, lying
(malformed reports, answers to other devices' commands), duplicate and late
results, clock (hours off), cloned (two machines, one identity), old (knows few
commands), mute (claims and never answers).

A server lets in ten enrollments a minute and address. For a large fleet start
it with AGENT_ENROLL_RATE_LIMIT=100000; without it the command waits as it is
told. --json prints the summary alone. A pipe gets a line of JSON per event,
the summary last. The key is not needed for devices that --state knows.
`;
