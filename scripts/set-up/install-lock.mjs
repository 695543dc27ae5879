import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetUpError } from './set-up-error.mjs';

const LOCK_FOLDER = '.install-lock';
const TOUCH_MS = 2_000;
// Judged by time and not by process id: the folder may be shared with a container, which has ids of its own.
const STALE_MS = 15_000;
const POLL_MS = 250;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs the work while no other start of the same folder does. `work` gets a function with which it says how to
 * stop it; a signal stops the work, frees the lock and then ends this process by that signal.
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

/** A rename, so that of several that find the lock stale one takes it; a fresh one taken by mistake goes back. */
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
  // The signal ends this process on its way back to the event loop; nothing after it may run.
  await delay(1_000);
}
