/** Report intervals that every answer to an agent names (docs/fleet.md, "Enrollment"). */
export const intervals = { heartbeatIntervalSeconds: 60, metricsIntervalSeconds: 60 };
