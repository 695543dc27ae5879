#!/usr/bin/env node
// node scripts/run.mjs <entry.ts | npm program> [arguments]
// Runs a TypeScript entry, or a program of node_modules/.bin, with Node 24 and with the packages of the lock
// file, on a machine that has neither yet. Plain JavaScript, because this file itself runs on Node 18 and up.
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explainMissingNode, findNode } from './set-up/find-node.mjs';
import { findEntry } from './set-up/find-entry.mjs';
import { installPackages } from './set-up/install-packages.mjs';
import { SetUpError } from './set-up/set-up-error.mjs';
import { runChild } from './set-up/run-child.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

try {
  const [name, ...rest] = process.argv.slice(2);
  if (name === undefined)
    throw new SetUpError('Usage: node scripts/run.mjs <entry.ts | npm program> [arguments]');
  await installPackages(root);
  const node = findNode();
  if (node === undefined) throw new SetUpError(explainMissingNode());
  runChild(node, [findEntry(root, name), ...rest], childEnvironment(node));
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/**
 * Returns the environment of the child: programs that it starts by name must find the same Node, not the machine's.
 * The compile cache makes a `phalanx` process start in two thirds of the time.
 */
function childEnvironment(node) {
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const path = [join(root, 'node_modules', '.bin'), dirname(node), process.env[name]];
  const NODE_COMPILE_CACHE =
    process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'node-modules');
  return { ...process.env, NODE_COMPILE_CACHE, [name]: path.filter(Boolean).join(delimiter) };
}
