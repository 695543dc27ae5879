#!/usr/bin/env node
// `phalanx`, in the repository and installed: goes on with Node 24, whatever Node starts it. Plain JavaScript, because
// this file itself runs on Node 14 and up.
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { endWithNpm } from '../../../scripts/set-up/end-with-parent.mjs';
import { explainMissingNode, findNode } from '../../../scripts/set-up/find-node.mjs';
import { runChild } from '../../../scripts/set-up/run-child.mjs';

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const packed = fileURLToPath(new URL('../../../dist/apps/cli/src/main.js', import.meta.url));
const main = existsSync(source) ? source : packed;
const node = findNode();
/** Commands that must not run what is in a folder that they write to. */
const services = new Set(['start', 'server', 'host', 'demo']);

if (node === undefined) {
  console.error(explainMissingNode());
  process.exitCode = 1;
} else if (node === process.execPath) {
  endWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  if (!services.has(process.argv[2])) keepCompiledModules();
  await import(pathToFileURL(main).href);
} else {
  runChild(node, [main, ...process.argv.slice(2)], process.env);
}

/**
 * Has Node keep what it compiles for the next command, which takes a third of the processor time. Only the user writes
 * to the folder: who can change what is there decides what the next command does. Node's NODE_COMPILE_CACHE names
 * another one.
 */
function keepCompiledModules() {
  // The home of many system users is not there, and nobody wants one made by a command.
  if (process.env.NODE_COMPILE_CACHE !== undefined || !existsSync(homedir())) return;
  const given = process.env.XDG_CACHE_HOME;
  const folder = join(given && isAbsolute(given) ? given : join(homedir(), '.cache'), 'phalanx');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    module.enableCompileCache(folder);
  } catch {
    // A home that can't be written: each command compiles anew.
  }
}
