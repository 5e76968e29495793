/**
 * Runs in the browser. The code is sent in a form's body: not in an address, so it is in no history and no log, and no
 * request of this page itself crosses from the network to the machine, which browsers ask people about. `</` must not
 * occur in it, nor may a template placeholder: the text is hashed as it stands.
 */
export const cliPageScript = `
"use strict";
const say = (text) => { document.getElementById("message").textContent = text; };
const query = new URLSearchParams(location.search);
const given = new URLSearchParams(location.hash.slice(1));
// A reload must not send the code again.
history.replaceState(null, "", location.pathname + location.search);

const port = query.get("port");
const state = query.get("state");
const answer = ["ssoCode", "ssoError"].map((name) => [name, given.get(name)]).find(([, value]) => value);

if (query.get("done") === "1") say("You are signed in. You can close this window.");
else if (query.get("done") === "0") say("Signing in did not work; the command line says why. You can close this window.");
else if (!/^[0-9]{4,5}$/.test(port || "") || Number(port) < 1024 || Number(port) > 65535 || !/^[A-Za-z0-9_-]{16,128}$/.test(state || ""))
  say("This address is not one that the command line made. Start again with: rmm auth login --sso");
else if (!answer) say("Nothing to hand over. Start again with: rmm auth login --sso");
else {
  say("Handing over to the command line. If nothing happens, it is no longer waiting: start again with rmm auth login --sso");
  const form = document.createElement("form");
  form.method = "post";
  form.action = "http://127.0.0.1:" + port + "/";
  for (const [name, value] of [["state", state], answer]) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  form.submit();
}
`;
