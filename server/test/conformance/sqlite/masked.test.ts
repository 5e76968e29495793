import { sweepMasked } from "../sweeps/masked.ts";

sweepMasked("sqlite");
