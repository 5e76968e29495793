import { sweepCredentials } from "../sweeps/credentials.ts";

sweepCredentials("postgres");
