import { sweepSecrets } from "../sweeps/secrets.ts";

sweepSecrets("postgres");
