/** Address of the API below the address that the caller gave, with or without `/api/v1`. */
export function apiBase(baseUrl: unknown): string {
  if (typeof baseUrl !== "string" || baseUrl.trim() === "") {
    throw new TypeError("baseUrl is missing: the address of the server, such as https://rmm.example");
  }
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl must start with http:// or https://: ${JSON.stringify(baseUrl)}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("baseUrl must not hold a name or password: give them as credentials");
  }
  if (url.search !== "" || url.hash !== "") throw new TypeError("baseUrl must not have a query or a fragment");
  const path = url.pathname.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
  return `${url.origin}${path}/api/v1`;
}
