import { handOverScript } from "#server/platform/hand-over-script";

/** Runs in the browser. `</` must not occur in it: the text is hashed as it stands. */
export const cliPageScript = `
"use strict";
const say = (text) => { document.getElementById("message").textContent = text; };
const query = new URLSearchParams(location.search);
const given = new URLSearchParams(location.hash.slice(1));
// A reload must not send the code again.
history.replaceState(null, "", location.pathname + location.search);
${handOverScript}
const answer = ["ssoCode", "ssoError"].map((name) => [name, given.get(name)]).find(([, value]) => value);

if (query.get("done") === "1") say("You are signed in. You can close this window.");
else if (query.get("done") === "0") say("Signing in did not work; the command line says why. You can close this window.");
else if (!canHandOver) say("This address is not one that the command line made. Start again with: rmm auth login --sso");
else if (!answer) say("Nothing to hand over. Start again with: rmm auth login --sso");
else {
  say("Handing over to the command line. If nothing happens, it is no longer waiting: start again with rmm auth login --sso");
  handOver(...answer);
}
`;
