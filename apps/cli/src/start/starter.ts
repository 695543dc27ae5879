/** The wrapper (`scripts/set-up/run-child.mjs`) that started this process says its process ID in this variable. */
export const parentVariable = '_PHALANX_PARENT';
const everyMs = 500;

/**
 * The wrapper that started this process, and takes the mark of it out of `env`. `isTrusted`: this same process has
 * written the mark, before it became itself once more. A mark of anybody else was meant for another process.
 */
export function receiveStarter(
  env: Record<string, string | undefined>,
  isTrusted: boolean,
): number | undefined {
  const pid = Number(env[parentVariable]);
  delete env[parentVariable];
  return pid > 0 && (isTrusted || pid === process.ppid) ? pid : undefined;
}

/**
 * Ends this process in order once the wrapper is gone. The kernel's own signal for that is lost when a process becomes
 * another user, as a service does that root has started.
 */
export function endWithStarter(pid: number | undefined): void {
  if (pid === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === pid) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, everyMs);
  timer.unref();
}
