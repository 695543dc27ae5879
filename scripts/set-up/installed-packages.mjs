import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether node_modules was created from this package-lock.json, for this platform. */
export function isInstalled(root) {
  if (readIfThere(stampPath(root)) === stampOf(root)) return true;
  // A developer's own `npm install` writes no stamp, so npm's record of installed packages is compared.
  if (!recordMatchesLock(root)) return false;
  try {
    stampInstalled(root);
  } catch {
    // If this user may not write to the folder, the check is repeated at each start.
  }
  return true;
}

/** Records that node_modules is correct. Written atomically, because other starts read it at the same time. */
export function stampInstalled(root) {
  const temporary = `${stampPath(root)}.${process.pid}`;
  writeFileSync(temporary, stampOf(root));
  renameSync(temporary, stampPath(root));
}

function stampPath(root) {
  return join(root, 'node_modules', '.phalanx-lock-hash');
}

function recordPath(root) {
  return join(root, 'node_modules', '.package-lock.json');
}

function stampOf(root) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  hash.update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readIfThere(recordPath(root)) ?? '');
  return `${hash.digest('hex')}\n`;
}

function recordMatchesLock(root) {
  const installed = readPackages(recordPath(root));
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (installed === undefined || wanted === undefined) return false;
  return (
    isEachAsWanted(root, installed, wanted) &&
    Object.entries(wanted).every(([path, entry]) => path in installed || mayBeAbsent(path, entry))
  );
}

function isEachAsWanted(root, installed, wanted) {
  return Object.entries(installed).every(([path, entry]) => {
    const want = wanted[path];
    if (want === undefined || want.version !== entry.version || want.integrity !== entry.integrity)
      return false;
    return isForThisPlatform(want) && existsSync(join(root, path));
  });
}

/**
 * Whether npm may skip an entry: entries of workspaces (a link represents each) and optional packages of other
 * platforms.
 */
function mayBeAbsent(path, entry) {
  if (!path.includes('node_modules/')) return true;
  return (entry.optional === true || entry.devOptional === true) && !isNodeForThisPlatform(path, entry);
}

function isNodeForThisPlatform(path, entry) {
  return /^node_modules\/node-(linux|darwin|win)-/.test(path) && isForThisPlatform(entry);
}

function isForThisPlatform({ os, cpu }) {
  return (os?.includes(process.platform) ?? true) && (cpu?.includes(process.arch) ?? true);
}

/**
 * Returns the packages; undefined for a file that is not JSON, such as a lock with a merge conflict, which npm
 * explains better.
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
