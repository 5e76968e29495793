import { sweepCredentials } from "../sweeps/credentials.ts";

sweepCredentials("sqlite");
