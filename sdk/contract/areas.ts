/** Areas of the product in the order of help and documentation; each noun stands in the folder of its area. */
export const areas = {
  tenancy: "Partners, customers and their sites",
  people: "Users, roles and notifications",
  "sign-in": "Sessions, second factors, single sign-on",
  credentials: "Keys and principals of machines",
  fleet: "Devices and their agents",
  "access-control": "Elevated rights on devices",
  security: "What protects devices, and what was found on them",
  alerting: "What needs somebody's attention",
  automation: "What devices are told to do by themselves",
  software: "What is installed on devices, and what is to be",
  remote: "What runs on a device, asked and changed while it is online",
  integrations: "What other systems are told",
  audit: "The tamper-evident record",
  platform: "Health and description of this server",
} as const;

export type Area = keyof typeof areas;
