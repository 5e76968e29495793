import { sweepGenerated } from "../sweeps/generated.ts";

sweepGenerated("sqlite");
