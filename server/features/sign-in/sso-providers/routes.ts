import { ssoProviders } from "#contract/resources/sign-in/sso-providers";
import { implement } from "#server/http/implement";
import { createProvider } from "./create.ts";
import { listProviders } from "./list.ts";
import { findProvider } from "./reach.ts";
import { removeProvider } from "./remove.ts";
import { setProviderStatus } from "./set-status.ts";
import { testProvider } from "./test-provider.ts";
import { updateProvider } from "./update.ts";
import { shownProvider } from "./view.ts";

export const routes = implement(ssoProviders, {
  presets: async (call) => ({ data: [...call.config.ssoPresets] }),
  list: listProviders,
  create: createProvider,
  get: async (call) => shownProvider(await findProvider(call.db, call.params.id)),
  update: updateProvider,
  remove: removeProvider,
  setStatus: setProviderStatus,
  test: testProvider,
});
