import type { RoomHooks } from "#server/room-hooks";
import { noteUsed } from "./note-used.ts";

export const hooks: RoomHooks = { onKeyUsed: noteUsed };
