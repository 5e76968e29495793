import { sweepTenancy } from "../sweeps/tenancy.ts";

sweepTenancy("postgres");
