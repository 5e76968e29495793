#!/usr/bin/env node
// CommonJS, as `dist/rmm` is: Node starts it a third faster than a module.
try {
  require("../dist/rmm/entry.cjs");
} catch (error) {
  const unbuilt = error?.code === "MODULE_NOT_FOUND";
  process.stderr.write(`rmm: ${unbuilt ? "not built yet: run `npm run build`" : error?.message}\n`);
  process.exitCode = 1;
}
