import { sweepExactValues } from "../sweeps/exact-values.ts";

sweepExactValues("postgres");
