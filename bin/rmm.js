#!/usr/bin/env node
const { readFileSync } = require("node:fs");
const { createRequire, wrap } = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { Script } = require("node:vm");

/**
 * Runs the files of `dist/rmm` with the code cache that the build has made of them: half of what a start costs is
 * compiling. Where another Node made the cache, V8 refuses it and compiles. CommonJS, which starts faster than modules.
 */
const folder = join(__dirname, "../dist/rmm");
const outside = createRequire(join(folder, "entry.cjs"));
const modules = new Map();
/** What was compiled, by file: the build makes the cache of it. */
const scripts = new Map();

function load(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const filename = join(folder, name);
  const script = new Script(wrap(readFileSync(filename, "utf8")), {
    filename,
    cachedData: cacheOf(filename),
  });
  const module = { exports: {} };
  modules.set(name, module);
  scripts.set(filename, script);
  script.runInThisContext().call(module.exports, module.exports, inside, module, filename, folder);
  return module.exports;
}

const inside = (id) => (id.startsWith("./") ? load(id.slice(2)) : outside(id));
/** Node lets a script that is run like this import nothing by itself. */
inside.import = (id) => import(id.startsWith("node:") ? id : pathToFileURL(outside.resolve(id)).href);

function cacheOf(filename) {
  try {
    return readFileSync(`${filename}.cache`);
  } catch {
    return undefined;
  }
}

module.exports = scripts;
try {
  load("entry.cjs");
} catch (error) {
  const unbuilt = error?.code === "ENOENT" && String(error.path).startsWith(folder);
  process.stderr.write(`rmm: ${unbuilt ? "not built yet: run `npm run build`" : error?.message}\n`);
  process.exitCode = 1;
}
