import { sweepPersons } from "../sweeps/persons.ts";

sweepPersons("postgres");
