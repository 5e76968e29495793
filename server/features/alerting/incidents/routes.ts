import { incidents } from "#contract/resources/alerting/incidents";
import { implement } from "#server/http/implement";
import { listFeed } from "./feed.ts";

export const routes = implement(incidents, { feed: listFeed });
