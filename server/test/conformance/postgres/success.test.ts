import { sweepSuccess } from "../sweeps/success.ts";

sweepSuccess("postgres");
