import type { DemoServer } from "./demo-server.ts";
import type { Transcript } from "./transcript.ts";

/** What every part of the story works with. The working folder is the current one while it runs. */
export interface Stage {
  say: Transcript;
  server: DemoServer;
  dir: string;
}
