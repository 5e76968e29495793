/** What `commands/index.ts` loads in one piece; the bundler cuts files at the boundaries of what is loaded. */
export { registerApi } from "./api.ts";
export { registerAuth } from "./auth/index.ts";
export { registerLogin } from "./auth/login.ts";
export { registerLogout } from "./auth/logout.ts";
export { extendMfa } from "./auth/mfa.ts";
export { registerComplete } from "./completion/complete.ts";
export { registerCompletion } from "./completion/index.ts";
export { registerConfig } from "./config.ts";
export { extendEnrollmentKeys } from "./enrollment-keys.ts";
export { registerHelp } from "./help.ts";
export { extendNotifications } from "./notifications.ts";
export { registerProfile } from "./profile.ts";
export { extendSearch } from "./search.ts";
export { extendUsers } from "./users.ts";
