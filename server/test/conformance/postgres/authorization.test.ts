import { sweepAuthorization } from "../sweeps/authorization.ts";

sweepAuthorization("postgres");
