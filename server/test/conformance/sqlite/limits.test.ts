import { sweepLimits } from "../sweeps/limits.ts";

sweepLimits("sqlite");
