import { sweepTenancy } from "../sweeps/tenancy.ts";

sweepTenancy("sqlite");
