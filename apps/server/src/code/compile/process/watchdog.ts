// Runs in its own thread, because the checker may block the main thread forever and would then outlive a killed server.
import { workerData } from 'node:worker_threads';

const parent: unknown = workerData;
const intervalMs = 1_000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(-process.pid, 'SIGKILL');
}, intervalMs);
