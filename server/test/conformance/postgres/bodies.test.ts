import { sweepBodies } from "../sweeps/bodies.ts";

sweepBodies("postgres");
