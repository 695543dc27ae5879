// Plain JavaScript, like the files that use it: it runs on whatever Node a machine has.
import { readFileSync } from 'node:fs';

/** Tells a program which process started it and passes signals on to it: the program ends when that one is gone. */
export const parentVariable = '_PHALANX_PARENT';
const everyMs = 500;

/**
 * Calls `end` when npm, which started this process, has gone: whoever kills npm means what it runs, and a signal that
 * npm can't catch reaches nobody else. Any other parent, such as a shell, may be outlived.
 */
export function endWithNpm(end) {
  const line = lineToNpm();
  if (line === undefined) return;
  const timer = setInterval(() => {
    if (isUnbroken(line)) return;
    clearInterval(timer);
    end();
  }, everyMs);
  timer.unref();
}

/** Process IDs from this one up to npm, which may have a shell below it. */
function lineToNpm() {
  const line = [process.pid];
  for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) {
    line.push(pid);
    const words = commandOf(pid);
    if (/^(npm|npx)\b|(^|[/\\])(npm|npx)(-cli\.[cm]?js)?(\0|$)/.test(words)) return line;
    if (!/^(\S*\/)?(da|ba)?sh\0-c\0/.test(words)) return undefined;
  }
  return undefined;
}

const isUnbroken = (line) =>
  line.slice(1).every((pid, at) => (at === 0 ? process.ppid : parentOf(line[at])) === pid);

/** Nothing where there is no /proc, and of a process that has ended. */
function parentOf(pid) {
  // The name in brackets may have anything in it: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
  return Number(read(`/proc/${pid}/stat`).split(') ').pop()?.split(' ')[1]) || undefined;
}

const commandOf = (pid) => read(`/proc/${pid}/cmdline`);

function read(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
