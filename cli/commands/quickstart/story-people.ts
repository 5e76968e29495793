import { randomBytes } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import { Secret, TOTP } from "otpauth";
import { readOwnText } from "../../input/read-text.ts";
import type { Stage } from "./stage.ts";

export const ADMIN = "admin@rmm.example";
export const TECH = "pat@northwind.example";
/** Holds every password and TOTP secret of the story; only its owner can read it. */
export const SIGN_INS = "sign-ins.txt";

/** An administrator, a partner, and a person of that partner; both people with a second factor. */
export async function peopleStory(stage: Stage): Promise<void> {
  const { say, server } = stage;
  await say.heading("Make the administrator and sign in, with a second factor");
  await newPassword("admin", ADMIN);
  await say.run([
    "server",
    "create-admin",
    "--email",
    ADMIN,
    "--password-file",
    "admin.password",
    "--data-dir",
    "data",
  ]);
  await signIn(stage, "admin", { server: server.url, email: ADMIN });

  await say.heading("Make a partner, and invite its first person");
  const partner = ["partners", "create", "--name", "Northwind MSP", "--slug", "northwind-msp", "--plan", "pro"];
  await say.run([...partner, "--json=id,slug,plan,status"]);
  await say.run([
    ...["users", "invite", "--partner", "northwind-msp", "--role", "Partner Admin", "--org-access", "all"],
    ...["--email", TECH, "--name", "Pat Okafor", "--secret-file", "pat.invite"],
  ]);
  await say.text("Where mail is set up, the link goes by mail. Here it is in a file, and Pat accepts:");
  await newPassword("pat", TECH);
  const accept = ["users", "accept-invite", "--link-file", "pat.invite", "--password-file", "pat.password"];
  const kept = ["--profile", "msp", "--server", server.url, "--store", "file"];
  await say.run([...accept, ...kept, "--json=user.email,user.scope"]);

  await say.heading("Pat is signed in by that, under a profile of its own, and sets up a second factor");
  await secondFactor(stage, "pat", ["--profile", "msp"]);
  await say.run(["profile", "use", "msp"], { show: { head: 1 } });
  await say.run(["auth", "status"]);
}

async function newPassword(name: string, email: string): Promise<void> {
  const password = `${randomBytes(12).toString("base64url")}-aZ7`;
  await writeFile(`${name}.password`, `${password}\n`, { mode: 0o600, flag: "wx" });
  await appendFile(SIGN_INS, `email     ${email}\npassword  ${password}\n`, { mode: 0o600 });
}

/** Password first; then the factor. */
async function signIn(stage: Stage, name: string, { server, email }: { server: string; email: string }) {
  const password = ["--password-file", `${name}.password`];
  await stage.say.run(["auth", "login", "--server", server, "--email", email, ...password, "--store", "file"]);
  await secondFactor(stage, name, []);
}

/** The factor is set up, proved with a first code, and on. */
async function secondFactor({ say }: Stage, name: string, profile: readonly string[]) {
  const setup = ["auth", "mfa", "setup", ...profile, "--current-password-file", `${name}.password`, "--json"];
  await say.run(setup, { typed: `rmm ${setup.join(" ")} > ${name}.mfa.json`, into: `${name}.mfa.json` });
  const made = JSON.parse(await readOwnText(`${name}.mfa.json`)) as Made;
  await appendFile(
    SIGN_INS,
    `TOTP      ${made.secret}  (${made.otpAuthUrl})\nrecovery  ${made.recoveryCodes.join(" ")}\n\n`,
  );
  const kept = ["--secret-file", `${name}.recovery`, "--json=success"];
  const enable = ["auth", "mfa", "enable", ...profile, "--code-stdin", ...kept];
  const code = new TOTP({ secret: Secret.fromBase32(made.secret) }).generate();
  await say.run(enable, {
    stdin: `${code}\n`,
    typed: `echo <code of the authenticator app> | rmm ${enable.join(" ")}`,
  });
}

interface Made {
  secret: string;
  otpAuthUrl: string;
  recoveryCodes: string[];
}
