#!/usr/bin/env node
import("../dist/rmm/entry.js").catch((error) => {
  const unbuilt = error?.code === "ERR_MODULE_NOT_FOUND";
  process.stderr.write(`rmm: ${unbuilt ? "not built yet: run `npm run build`" : error?.message}\n`);
  process.exitCode = 1;
});
