/** How often an agent reports, as every answer to it says (contract 1 H2, H3). */
export const intervals = { heartbeatIntervalSeconds: 60, metricsIntervalSeconds: 60 };
