import { sweepSuccess } from "../sweeps/success.ts";

sweepSuccess("sqlite");
