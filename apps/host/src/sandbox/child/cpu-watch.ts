/** How often the used processor time is looked at, in milliseconds. */
const intervalMs = 100;

/** Calls `onLimit` once when this process, with the isolate's thread, has used `cpuMs` from now on. */
export function watchCpu(cpuMs: number, onLimit: () => void): () => void {
  const start = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(start);
    if ((user + system) / 1000 > cpuMs) onLimit();
  }, intervalMs);
  return () => clearInterval(timer);
}
