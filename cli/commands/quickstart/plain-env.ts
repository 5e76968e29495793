type Environment = Readonly<Record<string, string | undefined>>;

const passed = /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|SystemRoot|LANG|LC_\w+|TZ|NODE_OPTIONS|NODE_EXTRA_CA_CERTS)$/i;

/** Nothing that is set for a real server, or for real work with one, may reach the demonstration. */
export const plainEnv = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => passed.test(entry[0]) && entry[1] !== undefined),
  );
