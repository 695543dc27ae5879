// Plain JavaScript, like the files that import it, because it runs on the machine's Node.
import { readFileSync } from 'node:fs';

/** Names the process that started a program and passes signals on to it; the program ends when that process does. */
export const parentVariable = '_PHALANX_PARENT';
const everyMs = 500;

/**
 * Calls `end` when npm, which started this process, has ended: killing npm is meant for the program that it runs, and
 * a signal that npm can't catch is not passed on. The process may outlive any other parent, such as a shell.
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

/** Returns the process IDs from this one up to npm, which may have a shell below it. */
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

/** Returns the parent's ID; undefined without /proc, or for a process that has ended. */
function parentOf(pid) {
  // The name in brackets may contain any characters: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
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
