import { escapeHtml, htmlPage } from "#server/platform/html-page";

interface LinkPage {
  readonly title: string;
  /** What the person sees before the command and after it. */
  readonly before: string;
  /** What is typed; the server's address is added. */
  readonly command: string;
  readonly after?: string;
}

const paste = "It asks for the link: paste the whole address of this page, and keep it to yourself until then.";

/**
 * Where links of mails and ends of sign-ins lead (docs/conventions.md, "Pages"). The secret of a link stands in its
 * fragment: it reaches neither this server nor these pages, which run no script.
 */
export const linkPages: Readonly<Record<string, LinkPage>> = {
  "/": {
    title: "An rmm server",
    before: "The API is below /api/v1. To sign in, type on your machine:",
    command: "rmm auth login",
  },
  "/accept-invite": {
    title: "You are invited",
    before: "To accept the invitation, type on your machine:",
    command: "rmm users accept-invite",
    after: `${paste} Then it asks for a password, and you are signed in.`,
  },
  "/reset-password": {
    title: "A new password",
    before: "To set it, type on your machine:",
    command: "rmm passwords reset",
    after: paste,
  },
  "/login": {
    title: "Not signed in",
    before:
      "If a sign-in brought you here, the address of this page says behind error= why it was refused. To try again:",
    command: "rmm auth login --sso",
  },
  "/settings/profile": {
    title: "Your identity provider",
    before:
      "It is attached to your account where the address of this page says ssoLinked=1; otherwise it says behind ssoLinkError= why not. To see which are attached:",
    command: "rmm sso-logins link-options",
  },
};

/** The page at a path outside the API, with or without a slash at its end; undefined where there is none. */
export const linkPageAt = (path: string): LinkPage | undefined => {
  const plain = path.length > 1 ? path.replace(/\/$/, "") : path;
  return Object.hasOwn(linkPages, plain) ? linkPages[plain] : undefined;
};

/** The page as it is sent by a server at this address. */
export function linkPageText({ title, before, command, after }: LinkPage, server: string): string {
  const typed = `${command} --server ${isAddress(server) ? server : "<address of this page up to its path>"}`;
  const end = after === undefined ? "" : `\n<p>${escapeHtml(after)}</p>`;
  const body = `<main><h1>${title}</h1>\n<p>${escapeHtml(before)}</p>\n<code>${escapeHtml(typed)}</code>${end}</main>`;
  return htmlPage(title, body);
}

/** A Host header may hold anything; what a person pastes into a shell may not. */
const isAddress = (text: string): boolean =>
  /^https?:\/\/[\w.:[\]/-]+$/.test(text) && URL.canParse(text) && new URL(text).username === "";
