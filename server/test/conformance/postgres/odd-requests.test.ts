import { sweepOddRequests } from "../sweeps/odd-requests.ts";

sweepOddRequests("postgres");
