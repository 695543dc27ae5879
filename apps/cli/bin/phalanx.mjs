#!/usr/bin/env node
// `phalanx`, in the repository and installed: goes on with Node 24, whatever Node starts it. Plain JavaScript, because
// this file itself runs on Node 14 and up.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { endWithNpm } from '../../../scripts/set-up/end-with-parent.mjs';
import { explainMissingNode, findNode } from '../../../scripts/set-up/find-node.mjs';
import { runChild } from '../../../scripts/set-up/run-child.mjs';

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const packed = fileURLToPath(new URL('../../../dist/apps/cli/src/main.js', import.meta.url));
const main = existsSync(source) ? source : packed;
const node = findNode();

if (node === undefined) {
  console.error(explainMissingNode());
  process.exitCode = 1;
} else if (node === process.execPath) {
  endWithNpm(() => process.kill(process.pid, 'SIGTERM'));
  await import(pathToFileURL(main).href);
} else {
  runChild(node, [main, ...process.argv.slice(2)], process.env);
}
