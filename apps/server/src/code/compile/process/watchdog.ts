// A thread of its own: the checker blocks the main one, maybe for ever, and would outlive a server that was killed.
import { workerData } from 'node:worker_threads';

const parent: unknown = workerData;
const intervalMs = 1_000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(-process.pid, 'SIGKILL');
}, intervalMs);
