import { describe, expect, it } from "vitest";
import { maskSecrets, maskSecretsIn } from "#server/platform/mask-secrets";
import { type EventFacts, readEvent } from "./rules.ts";

const now = "2026-11-29T08:00:00.000Z";
const event = (more: object) => ({ timestamp: now, level: "info", category: "system", message: "x", ...more });

describe("an event", () => {
  it("less severe than the minimum is left out, whatever else is wrong with it", () => {
    for (const [level, minimum, kept] of [
      ["info", "info", true],
      ["information", "warning", false],
      ["warn", "warning", true],
      ["warning", "error", false],
      ["fatal", "critical", true],
    ] as const)
      expect(readEvent(event({ level }), now, minimum) !== "filtered", `${level} ${minimum}`).toBe(kept);
    expect(readEvent(event({ level: "info", message: null }), now, "error")).toBe("filtered");
  });

  it("happened when its device says, unless that lies more than ten minutes ahead or cannot be read", () => {
    const at = (timestamp: unknown) => {
      const read = readEvent(event({ timestamp }), now, "info");
      return typeof read === "object" ? [read.timestamp, read.details?.["originalTimestamp"]] : read;
    };
    expect(at("2026-11-29T10:00:00+02:00")).toEqual([now, undefined]);
    expect(at("2026-11-29T08:09:59")).toEqual(["2026-11-29T08:09:59.000Z", undefined]);
    expect(at("2026-11-29T08:10:01Z")).toEqual([now, "2026-11-29T08:10:01Z"]);
    expect(at(5)).toEqual([now, "5"]);
    expect(at("29/11/2026")).toEqual([now, "29/11/2026"]);
    expect(at(undefined)).toEqual([now, ""]);
  });
});

describe("details as large as a body", () => {
  const kept = (details: object) => (readEvent(event({ details }), now, "info") as EventFacts).details ?? {};

  it("are cut before they are masked, which costs more", () => {
    const secret = `password=${"x".repeat(300 * 1_024)}`;
    expect(kept({ secret, small: "kept" })).toEqual({ small: "kept", truncated: true });
    expect(kept({ secret: secret.slice(0, 200 * 1_024) })).toEqual({ secret: "********" });
  });

  it("of ever so many fields are the first of them", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, `value ${at} of a field`]));
    const read = kept(many);
    expect(Object.keys(read).length).toBe(1_001);
    expect(read).toMatchObject({ k0: "value 0 of a field", k999: "value 999 of a field", truncated: true });
  });
});

describe("what is masked", () => {
  const secret = "hunter2hunter2hunter2";
  const lines = [
    `password=${secret} next`,
    `{"user":"a","clientSecret":"${secret}"}`,
    String.raw`body {\"apiKey\":\"${secret}\"}`,
    `Authorization: Basic ${secret}`,
    `sent with Bearer ${secret}`,
    `<Password>${secret}</Password>`,
    `cmd.exe /c net user bob ${secret} /add`,
    `psql postgres://bob:${secret}@db/x`,
    `tool --password ${secret} --verbose`,
    `New-User -Password '${secret} two'`,
    `schtasks /create /rp ${secret} /tn x`,
    `Server=x;Pwd=${secret};Database=y`,
    `https://x/?access_token=${secret}&y=1`,
    `AWS_SECRET_ACCESS_KEY=${secret}`,
    `DB_PASS=${secret}`,
    `export MYSQL_ROOT_PASS="${secret}"`,
    `dbPass: ${secret}`,
    `app.smtp.pass=${secret}`,
    `FTP_PASSWD:${secret}`,
    `DB_PWD=${secret}`,
    `STRIPE_SECRET = ${secret}`,
    `GH_TOKEN:${secret}`,
    `ENCRYPTION_KEY=${secret}`,
    `{"storageKey":"${secret}"}`,
    `https://maps/?key=${secret}&q=1`,
    `{ :password => "${secret}" }`,
    `<Password>one ${secret}</Password>`,
    `<db:DbPass type="x">${secret}</db:DbPass>`,
    `<Password>\n  <Value>${secret}</Value>\n</Password>`,
    `<password><![CDATA[a<${secret}]]></password>`,
    `<Password>${secret}`,
    `<add key="Password" value="${secret}"/>`,
    `<setting name='SmtpPassword' serializeAs='String' value='${secret}'/>`,
    `<add value="${secret}" key="Db:Password"/>`,
    String.raw`{"xml":"<add key=\"Password\" value=\"${secret}\"/>"}`,
    `<Data Name="TargetPassword">${secret}</Data>`,
    `<key>ApiToken</key>\n<string>${secret}</string>`,
    `<ENCRYPTION_KEY>${secret}</ENCRYPTION_KEY>`,
    `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}`,
    `agt_${"a1".repeat(32)}`.replace("a1a1", "a1a1"),
  ];
  it.each(lines)("%s", (line) => {
    const masked = maskSecrets(line);
    expect(masked).not.toContain(secret);
    expect(masked).toContain("********");
  });

  it("is nothing else", () => {
    const plain = ["the service started", "C:\\Program Files\\x.exe /S /norestart", "a://b/c d@e", "user bob"];
    const names = ["bypass=1", "Registry key: HKLM\\Software", "key=HKLM\\Software", "primary_key=5", "hotkey: F5"];
    const markup = ["<Passed>3</Passed>", '<add key="Timeout" value="30"/>', '<Data Name="User">bob</Data>'];
    for (const line of [...plain, ...names, ...markup, "<Password></Password> follows"])
      expect(maskSecrets(line)).toBe(line);
  });

  it("in JSON goes by names as well, and by flags in lists of arguments", () => {
    const given = {
      args: ["run", "--token", secret, "-v"],
      env: [
        { name: "DB_PASSWORD", value: secret },
        { Name: "DB_PASSWORD", Value: secret },
        { Value: secret, Key: "Token" },
      ],
      deep: { privateKey: { pem: secret } },
      line: `pwd=${secret}`,
      settings: { dbPass: secret, STORAGE_KEY: secret, bypass: "no", registryKey: "HKLM" },
      plain: 7,
    };
    const masked = maskSecretsIn(given);
    expect(JSON.stringify(masked)).not.toContain(secret);
    expect(masked).toMatchObject({ args: ["run", "--token", "********", "-v"], plain: 7 });
    expect(masked).toMatchObject({ settings: { bypass: "no", registryKey: "HKLM" } });
  });

  it("is found in one pass however a text is made", () => {
    const written = ['password="', "://a:", "net user ", " --password", `password:${"\\".repeat(40)}`];
    const names = ["DB_PASS=", "pass_", "key_", "a.key", "_key:"];
    const pairs = ['<add key="Password" ', 'key="Password"', 'value="', 'value="" key="p', `<a ${" ".repeat(190)}`];
    const elements = ["<Password>", "<Password><a>", "<Password ", "<Password>\n", "<pass", "<key>pass</key>", "<a:"];
    const data = ["<Password><![CDATA[", "<Password><![CDATA[]", '<Data Name="Password', '<Data Name="Password">'];
    const hostile = [
      ...written,
      "eyJaaaaaaaa.",
      "eyJaaaaaaaa-",
      ...names,
      ...pairs,
      ...elements,
      ...data,
      " ",
      "<",
      "a",
    ];
    for (const part of hostile) {
      const started = performance.now();
      maskSecrets(part.repeat(Math.ceil(200_000 / part.length)));
      expect(performance.now() - started, part).toBeLessThan(1_000);
    }
  });
});
