import { mfa } from "#contract/resources/sign-in/mfa";
import { implement, judgingSecret } from "#server/http/implement";
import { disableMfa } from "./disable.ts";
import { enableMfa } from "./enable.ts";
import { rotateRecoveryCodes } from "./recovery-codes.ts";
import { recoveryCodesState, setupState } from "./secret-state.ts";
import { setUpMfa } from "./setup.ts";
import { stepUpMfa } from "./step-up.ts";
import { verifyMfa } from "./verify.ts";

export const routes = implement(mfa, {
  verify: verifyMfa,
  setup: judgingSecret(setUpMfa, setupState),
  enable: judgingSecret(enableMfa, recoveryCodesState),
  stepUp: stepUpMfa,
  disable: disableMfa,
  recoveryCodes: judgingSecret(rotateRecoveryCodes, recoveryCodesState),
});
