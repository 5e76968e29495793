/** Takes half a second of a start, so it is loaded by who first registers or proves. */
export async function loadWebAuthn() {
  const [server, helpers] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  const { verifyAuthenticationResponse, verifyRegistrationResponse } = server;
  const { decodeAttestationObject, decodeClientDataJSON } = helpers;
  return { verifyAuthenticationResponse, verifyRegistrationResponse, decodeAttestationObject, decodeClientDataJSON };
}
