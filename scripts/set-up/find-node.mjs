import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const NEEDED_MAJOR = 24;

/**
 * Finds the Node that runs this file if it is new enough, or else the one that npm installed beside or above this
 * file.
 */
export function findNode() {
  const major = Number(process.versions.node.split('.')[0]);
  // After a new `npm ci`, the running program may have been deleted from node_modules.
  if (major >= NEEDED_MAJOR && existsSync(process.execPath)) return process.execPath;
  const folder = findPackage(nodePackage());
  const installed = folder === undefined ? undefined : join(folder, 'bin', nodeProgram());
  return installed !== undefined && existsSync(installed) ? installed : undefined;
}

export function explainMissingNode() {
  return [
    `Phalanx needs Node ${NEEDED_MAJOR} or newer. This is Node ${process.versions.node}, and the npm package ` +
      `${nodePackage()}, which would bring it, is not installed.`,
    `Install Node ${NEEDED_MAJOR} from https://nodejs.org and run the same command again.`,
  ].join('\n');
}

function findPackage(name) {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function nodePackage() {
  return `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

function nodeProgram() {
  return process.platform === 'win32' ? 'node.exe' : 'node';
}
