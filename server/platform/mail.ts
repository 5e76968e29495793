import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import nodemailer from "nodemailer";
import type { Config } from "#server/config";

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mail over SMTP; without SMTP, appends it to a file in the data directory, mode 0600. */
export interface Mailer {
  /** False when mails only reach the file outbox: links are then also shown to the inviting administrator. */
  readonly delivers: boolean;
  send(mail: Mail): Promise<void>;
}

const SMTP_TIMEOUT_MS = 10_000;

export function mailer(config: Pick<Config, "smtp" | "dataDir">): Mailer {
  return config.smtp ? smtpMailer(config.smtp) : fileMailer(config.dataDir);
}

function smtpMailer(smtp: NonNullable<Config["smtp"]>): Mailer {
  const transport = nodemailer.createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.port === 465,
    ...(smtp.user === undefined ? {} : { auth: { user: smtp.user, pass: smtp.password ?? "" } }),
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
  });
  return {
    delivers: true,
    async send(mail) {
      await transport.sendMail({ from: smtp.from, to: mail.to, subject: mail.subject, text: mail.text });
    },
  };
}

function fileMailer(dataDir: string): Mailer {
  const file = join(dataDir, "mail-outbox.ndjson");
  return {
    delivers: false,
    async send(mail) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      appendFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), ...mail })}\n`, { mode: 0o600 });
    },
  };
}
