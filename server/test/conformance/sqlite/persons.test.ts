import { sweepPersons } from "../sweeps/persons.ts";

sweepPersons("sqlite");
