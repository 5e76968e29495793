import { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import { implement } from "#server/http/implement";
import { receiveCallback } from "./callback.ts";
import { checkSso } from "./check.ts";
import { showCliPage } from "./cli-page.ts";
import { showLoginContext } from "./context.ts";
import { discoverSso } from "./discover.ts";
import { exchangeCode } from "./exchange.ts";
import { listLinkOptions } from "./link-options.ts";
import { startLogin, startPartnerLogin } from "./start.ts";
import { startLink } from "./start-link.ts";

export const routes = implement(ssoLogins, {
  check: checkSso,
  discover: discoverSso,
  context: showLoginContext,
  start: startLogin,
  startForPartner: startPartnerLogin,
  callback: receiveCallback,
  callbackOfProvider: receiveCallback,
  exchange: exchangeCode,
  linkOptions: listLinkOptions,
  startLink,
  cliPage: showCliPage,
});
