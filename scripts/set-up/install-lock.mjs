import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetUpError } from './set-up-error.mjs';

const LOCK_FOLDER = '.install-lock';
const TOUCH_MS = 2_000;
// Time in ms after which a lock is stale. Process IDs would not work: the folder may be shared with a container,
// which has its own.
const STALE_MS = 15_000;
const POLL_MS = 250;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs the work while no other start of the same folder does. `work` gets a function to register how to stop it; a
 * signal stops the work, releases the lock and then ends this process by that signal.
 */
export async function withInstallLock(root, work) {
  const folder = join(root, LOCK_FOLDER);
  const token = await acquire(folder);
  const release = () => {
    if (ownerOf(folder) === token) rmSync(folder, { recursive: true, force: true });
  };
  const touching = setInterval(() => touch(folder, token), TOUCH_MS);
  let stop = () => undefined;
  let stoppedBy;
  const onSignal = (signal) => {
    stoppedBy ??= signal;
    stop(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  try {
    await work((how) => (stop = how));
  } catch (error) {
    if (stoppedBy === undefined) throw error;
  } finally {
    clearInterval(touching);
    release();
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
  }
  if (stoppedBy !== undefined) await endBy(stoppedBy);
}

async function acquire(folder) {
  const token = randomUUID();
  for (let waited = false; ; waited = true) {
    if (tryAcquire(folder, token)) return token;
    if (isStale(folder)) takeAway(folder);
    else if (!waited)
      console.error('phalanx: another start is installing the npm packages; waiting for it ...');
    await delay(POLL_MS);
  }
}

function tryAcquire(folder, token) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw new SetUpError(`phalanx: can't write to the repository's folder (${error.message}).`);
  }
  writeFileSync(join(folder, 'owner'), token);
  writeFileSync(join(folder, '.gitignore'), '*\n');
  return true;
}

function isStale(folder) {
  try {
    return Date.now() - statSync(folder).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

/**
 * Takes a stale lock away. A rename ensures that only one of several processes takes it; a fresh lock taken by
 * mistake is returned.
 */
function takeAway(folder) {
  const aside = `${folder}-${randomUUID()}`;
  try {
    renameSync(folder, aside);
    if (isStale(aside)) rmSync(aside, { recursive: true, force: true });
    else renameSync(aside, folder);
  } catch (error) {
    if (!['ENOENT', 'EEXIST', 'ENOTEMPTY'].includes(error.code)) throw error;
  }
}

function touch(folder, token) {
  if (ownerOf(folder) !== token) return;
  const now = new Date();
  utimesSync(folder, now, now);
}

function ownerOf(folder) {
  try {
    return readFileSync(join(folder, 'owner'), 'utf8');
  } catch {
    return undefined;
  }
}

async function endBy(signal) {
  process.kill(process.pid, signal);
  // The signal ends this process at the next turn of the event loop; no further code may run.
  await delay(1_000);
}
