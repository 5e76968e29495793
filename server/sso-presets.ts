import { readFileSync } from "node:fs";
import { z } from "zod";
import { SsoPreset } from "#contract/resources/sign-in/sso-providers";

export type Preset = z.output<ReturnType<typeof SsoPreset>>;

const standardClaims = { email: "email", name: "name", firstName: "given_name", lastName: "family_name" };

const claims = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims";
const directoryAttributes = {
  email: `${claims}/emailaddress`,
  name: `${claims}/name`,
  firstName: `${claims}/givenname`,
  lastName: `${claims}/surname`,
  groups: "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
};
const plainAttributes = {
  email: "email",
  name: "name",
  firstName: "firstName",
  lastName: "lastName",
  groups: "groups",
};

/**
 * Common identity providers with their published addresses (docs/single-sign-on.md, "Presets"). Ids and placeholders
 * are neutral so that an operator can put other providers behind them with `SSO_PRESETS_FILE`.
 */
export const shippedPresets: readonly Preset[] = [
  {
    id: "cloud-directory",
    name: "Cloud directory (Microsoft Entra ID)",
    type: "oidc",
    issuerTemplate: "https://login.microsoftonline.com/{tenant}/v2.0",
    scopes: "openid profile email",
    attributeMapping: standardClaims,
  },
  {
    id: "workforce-idp",
    name: "Workforce identity (Okta)",
    type: "oidc",
    issuerTemplate: "https://{domain}.okta.com",
    scopes: "openid profile email groups",
    attributeMapping: { ...standardClaims, groups: "groups" },
  },
  {
    id: "workspace-idp",
    name: "Workspace (Google)",
    type: "oidc",
    issuerTemplate: "https://accounts.google.com",
    scopes: "openid profile email",
    attributeMapping: standardClaims,
  },
  {
    id: "customer-idp",
    name: "Customer identity (Auth0)",
    type: "oidc",
    issuerTemplate: "https://{domain}.auth0.com",
    scopes: "openid profile email",
    attributeMapping: standardClaims,
  },
  {
    id: "cloud-directory-saml",
    name: "Cloud directory (Microsoft Entra ID)",
    type: "saml",
    ssoUrlTemplate: "https://login.microsoftonline.com/{tenant}/saml2",
    metadataUrlTemplate: "https://login.microsoftonline.com/{tenant}/federationmetadata/2007-06/federationmetadata.xml",
    attributeMapping: directoryAttributes,
  },
  {
    id: "workforce-idp-saml",
    name: "Workforce identity (Okta)",
    type: "saml",
    ssoUrlTemplate: "https://{domain}.okta.com/app/{appId}/sso/saml",
    metadataUrlTemplate: "https://{domain}.okta.com/app/{appId}/sso/saml/metadata",
    attributeMapping: plainAttributes,
  },
  {
    id: "identity-suite-saml",
    name: "Identity suite (OneLogin)",
    type: "saml",
    ssoUrlTemplate: "https://{domain}.onelogin.com/trust/saml2/http-post/sso/{appId}",
    metadataUrlTemplate: "https://{domain}.onelogin.com/saml/metadata/{appId}",
    attributeMapping: {
      email: "User.email",
      name: "User.DisplayName",
      firstName: "User.FirstName",
      lastName: "User.LastName",
      groups: "memberOf",
    },
  },
  {
    id: "federation-server-saml",
    name: "Federation server (AD FS)",
    type: "saml",
    ssoUrlTemplate: "https://{adfs-server}/adfs/ls/",
    metadataUrlTemplate: "https://{adfs-server}/FederationMetadata/2007-06/FederationMetadata.xml",
    attributeMapping: { ...directoryAttributes, groups: "http://schemas.xmlsoap.org/claims/Group" },
  },
  {
    id: "workspace-idp-saml",
    name: "Workspace (Google)",
    type: "saml",
    ssoUrlTemplate: "https://accounts.google.com/o/saml2/idp?idpid={idpId}",
    attributeMapping: plainAttributes,
  },
];

/** Presets of the operator's own; throws with what is wrong with the file. */
export function presetsFrom(path: string): readonly Preset[] {
  const presets = z.array(SsoPreset()).parse(JSON.parse(readFileSync(path, "utf8")));
  const ids = presets.map((preset) => preset.id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw new Error(`${twice} is there twice`);
  return presets;
}
