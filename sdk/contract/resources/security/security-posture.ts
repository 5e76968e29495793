import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import {
  instant,
  lenient,
  lenientList,
  openObject,
  ref,
  reported,
  reportedOrBlank,
  searchText,
  timestamp,
} from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { osTypes } from "../fleet/devices.ts";

export const encryptionStatuses = ["encrypted", "partial", "unencrypted", "unknown"] as const;
export const protectionStatuses = ["protected", "at_risk", "unprotected", "offline"] as const;
export const riskLevels = ["low", "medium", "high", "critical"] as const;

const fact = () => lenient(reportedOrBlank(255));
const yesOrNo = () => lenient(z.boolean().nullable());
const moment = () => lenient(timestamp().nullable());
const number = () => lenient(z.int().min(0).max(1_000_000).nullable());
const providerId = () => z.string().regex(/^[a-z0-9_-]{1,64}$/, "must be 1 to 64 of a-z, 0-9, - and _");

const Volume = () =>
  z.object({
    mount: reported(255),
    protected: z.boolean(),
    method: fact(),
    percentEncrypted: lenient(z.number().min(0).max(100).nullable()),
  });

const Admin = () =>
  z.union([
    reported(255),
    z.object({
      username: reported(255),
      enabled: yesOrNo(),
      isBuiltIn: yesOrNo(),
      passwordAgeDays: number(),
      lastLoginAt: moment(),
    }),
  ]);

const Port = () => z.object({ port: z.int().min(0).max(65_535), protocol: reported(255), process: fact() });

const PasswordPolicy = () =>
  z.object({
    minLength: number(),
    complexity: yesOrNo(),
    maxAgeDays: number(),
    lockoutThreshold: number(),
    historyCount: number(),
  });

/** What protects a device, as its agent reports it; a fact left out is unknown (docs/security.md, "Reports"). */
export const SecurityReport = shape("SecurityReport", () =>
  z.object({
    provider: lenient(z.object({ id: providerId(), name: fact(), vendor: fact() }).nullable()).describe(
      "what protects the device",
    ),
    providerVersion: fact().describe("version of its program"),
    definitionsVersion: fact().describe("version of what it knows of threats"),
    definitionsUpdatedAt: moment().describe("when that was last renewed"),
    realTimeProtection: yesOrNo().describe("whether files are checked as they are used"),
    firewallEnabled: yesOrNo().describe("whether the firewall is on"),
    firewallProfiles: lenient(
      openObject({ domain: yesOrNo(), private: yesOrNo(), public: yesOrNo() }).nullable(),
    ).describe("what is on by kind of network"),
    encryptionStatus: lenient(z.enum(encryptionStatuses).nullable()).describe("of its disks"),
    encryptionDetails: lenient(z.object({ volumes: lenientList(Volume(), 100) }).nullable()).describe("of each disk"),
    recoveryKeyEscrowed: yesOrNo().describe("whether the key to its disks is kept elsewhere"),
    gatekeeperEnabled: yesOrNo().describe("whether macOS judges programs before they start"),
    localAdmins: lenientList(Admin(), 500).describe("accounts that may do everything: names, or objects with more"),
    passwordPolicy: lenient(PasswordPolicy().nullable()).describe("what passwords must be like"),
    openPorts: lenientList(Port(), 2_000).describe("what listens on the network"),
    lastScanAt: moment().describe("when it was last searched for threats"),
    lastScanType: fact().describe("how, such as quick or full"),
  }),
);

/** What protects a device; null is what its agent does not say (docs/security.md, "Status"). */
export const DeviceSecurity = shape("DeviceSecurity", () =>
  z.object({
    deviceId: z.string(),
    deviceName: z.string(),
    orgId: z.string(),
    os: z.enum(osTypes),
    providerId: z.string().nullable(),
    provider: z.object({ id: z.string(), name: z.string().nullable(), vendor: z.string().nullable() }).nullable(),
    providerVersion: z.string().nullable(),
    definitionsVersion: z.string().nullable(),
    definitionsUpdatedAt: instant().nullable(),
    status: z.enum(protectionStatuses).nullable().describe("null: too little is known"),
    riskLevel: z.enum(riskLevels).nullable().describe("null: too little is known"),
    lastScanAt: instant().nullable(),
    lastScanType: z.string().nullable(),
    threatsDetected: z.int().nullable().describe("active or allowed; null: its agent has not reported"),
    realTimeProtection: z.boolean().nullable(),
    firewallEnabled: z.boolean().nullable(),
    encryptionStatus: z.enum(encryptionStatuses).nullable(),
    gatekeeperEnabled: z.boolean().nullable(),
  }),
);

const about: Noun = {
  name: "security-posture",
  summary: "What protects devices",
  audits: [],
};

export const securityPosture = resource(about, {
  list: get("/security/status", {
    summary: "List how devices are protected, by name",
    description: "Devices that are pending or decommissioned are left out.",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["deviceName", "status", "riskLevel", "threatsDetected", "providerId", "firewallEnabled", "deviceId"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("devices of this organization"),
        providerId: z.string().max(64).optional().describe("what protects the device, such as windows_defender"),
        status: z.enum(protectionStatuses).optional().describe("what is shown as its status"),
        riskLevel: z.enum(riskLevels).optional().describe("what its facts and its silence amount to"),
        os: z.enum(osTypes).optional().describe("what runs on it"),
        search: searchText().optional().describe("part of the device's name"),
      }),
    returns: () => pageOf(DeviceSecurity()),
  }),
  ofDevice: get("/security/status/:deviceId", {
    summary: "Show how a device is protected",
    access: staff().needs("devices:read"),
    refs: { deviceId: "device" },
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: DeviceSecurity,
  }),
});
