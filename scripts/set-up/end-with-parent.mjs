// Plain JavaScript, like the files that import it, because it runs on the machine's Node.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Names the process with which a program ends, for a program that executes itself again. */
export const wrapperVariable = '_PHALANX_WRAPPER';
const everyMs = 500;
const prefix = ['setpriv', '--pdeathsig', 'TERM'];

/**
 * Returns the words before a command that has the kernel end it with this process, however this process ends. setpriv
 * is part of every Debian; without it, the command outlives a SIGKILL.
 */
export function endWithParent() {
  if (process.platform !== 'linux') return [];
  const [program, ...rest] = [...prefix, 'true'];
  return spawnSync(program, rest, { stdio: 'ignore' }).status === 0 ? prefix : [];
}

/**
 * Calls `end` when npm, whose script this process is, has ended: killing npm is meant for the program that it runs, and
 * npm can't pass a SIGKILL on. The shell between the two has become this process.
 */
export function endWithNpm(end) {
  const npm = process.ppid;
  if (!/^(npm|npx)\b|(^|[/\\])(npm|npx)(-cli\.[cm]?js)?(\0|$)/.test(commandOf(npm))) return;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    end();
  }, everyMs);
  timer.unref();
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
