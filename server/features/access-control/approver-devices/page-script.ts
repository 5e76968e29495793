import { handOverScript } from "#server/platform/hand-over-script";

/**
 * Runs in the browser. The challenge comes in the part of the address that no server sees, and everything that is shown
 * comes from the server. What the device answers goes to the command line on this machine. `</` must not occur in it: the
 * text is hashed as it stands.
 */
export const pageScript = `
"use strict";
const element = (id) => document.getElementById(id);
const say = (text) => { element("message").textContent = text; };
const query = new URLSearchParams(location.search);
const challenge = new URLSearchParams(location.hash.slice(1)).get("challenge") || "";
// It stays in no history.
history.replaceState(null, "", location.pathname + location.search);

${handOverScript}
const isOurs = canHandOver && /^[A-Za-z0-9_-]{43}$/.test(challenge);
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/[+]/g, "-").replace(/[/]/g, "_").replace(/=+$/, "");
const known = (all) => all && all.map((one) => ({ ...one, id: bytes(one.id) }));

async function sign(options) {
  const publicKey = { ...options, challenge: bytes(challenge), allowCredentials: known(options.allowCredentials) };
  const { id, response } = await navigator.credentials.get({ publicKey });
  const { authenticatorData, clientDataJSON, signature, userHandle } = response;
  return {
    credentialId: id,
    authenticatorData: text(authenticatorData),
    clientDataJSON: text(clientDataJSON),
    signature: text(signature),
    ...(userHandle && userHandle.byteLength > 0 ? { userHandle: text(userHandle) } : {}),
  };
}

async function register(options) {
  const publicKey = {
    ...options,
    challenge: bytes(challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: known(options.excludeCredentials),
  };
  const { id, type, response } = await navigator.credentials.create({ publicKey });
  const { clientDataJSON, attestationObject } = response;
  const transports = response.getTransports ? response.getTransports() : [];
  return {
    id, rawId: id, type,
    response: { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject), transports },
  };
}

const reasons = {
  NotAllowedError: "It was cancelled, or took too long. Try again.",
  InvalidStateError: "This device is registered already.",
  SecurityError: "The browser does not let this address ask for a device.",
};

function offer({ account, facts, registration, assertion }) {
  for (const { name, value } of facts) {
    const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    detail.textContent = value;
    element("facts").append(term, detail);
  }
  const button = element("sign");
  const leave = element("leave");
  button.textContent = registration ? "Register this device" : "Approve with this device";
  say(registration
    ? "Register this device for " + account + ", to prove approvals with it."
    : account + ", you are about to approve this. Cancel what you did not ask for.");
  button.hidden = leave.hidden = false;
  element("codeline").hidden = !registration;
  leave.addEventListener("click", () => handOver("deviceError", "cancelled"));
  button.addEventListener("click", async () => {
    const code = element("code").value.trim();
    if (registration && !/^[0-9]{6}$/.test(code)) return say("Type the code that the command line shows.");
    button.disabled = true;
    try {
      const answer = registration ? { code, response: await register(registration) } : await sign(assertion);
      button.hidden = leave.hidden = element("codeline").hidden = true;
      say("Handing over to the command line. If nothing happens, it is no longer waiting.");
      handOver("answer", JSON.stringify(answer));
    } catch (error) {
      button.disabled = false;
      say(reasons[error.name] || "The device did not answer: " + error.name);
    }
  });
}

async function begin() {
  const answer = await fetch("page/facts", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ challenge }),
  });
  if (answer.ok) offer(await answer.json());
  else say("This has ended, or was answered already. Start again from the command line.");
}

if (query.get("done") === "1") say("Done. You can close this window.");
else if (query.get("done") === "0") say("It did not work; the command line says why. You can close this window.");
else if (!isOurs) say("This address is not one that the command line made.");
else if (!window.PublicKeyCredential) say("This browser cannot ask for an approver device.");
else begin().catch(() => say("The server cannot be reached."));
`;
