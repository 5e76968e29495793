import { sessions } from "#contract/resources/sign-in/sessions";
import { implement } from "#server/http/implement";
import { listSessions } from "./list.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { refresh } from "./refresh.ts";
import { removeSession } from "./remove.ts";

export const routes = implement(sessions, { login, refresh, logout, list: listSessions, remove: removeSession });
