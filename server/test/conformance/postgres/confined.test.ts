import { sweepConfined } from "../sweeps/confined.ts";

sweepConfined("postgres");
