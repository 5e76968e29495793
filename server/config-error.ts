/** What an operator set wrongly; the server refuses to start and says which setting. */
export class ConfigError extends Error {
  override name = "ConfigError";
}
