import { passwords } from "#contract/resources/sign-in/passwords";
import { implement } from "#server/http/implement";
import { changePassword } from "./change.ts";
import { forgotPassword } from "./forgot.ts";
import { resetPassword } from "./reset.ts";

export const routes = implement(passwords, {
  forgot: forgotPassword,
  reset: resetPassword,
  change: changePassword,
});
