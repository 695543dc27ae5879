import { readdir, readFile } from 'node:fs/promises';

/** Unit of times in `/proc`, the same on all architectures of Linux. */
const ticksPerSecond = 100;

interface Times {
  parent: number;
  /** Time of the process and of the children that it has waited for. */
  ticks: number;
}

/** Returns the processor time of a process and its descendants. Requires Linux. */
export async function cpuMsOfAll(pid: number): Promise<number> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const all = new Map<number, Times>();
  for (const name of names) {
    // The process may have ended in the meantime.
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => undefined);
    if (stat !== undefined) all.set(Number(name), timesOf(stat));
  }
  const ticksOf = (id: number): number =>
    [...all]
      .filter(([, { parent }]) => parent === id)
      .reduce((sum, [child]) => sum + ticksOf(child), all.get(id)?.ticks ?? 0);
  return (1000 * ticksOf(pid)) / ticksPerSecond;
}

/** Parses proc_pid_stat(5), in which the name in brackets may contain spaces. */
function timesOf(stat: string): Times {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index]);
  return { parent: at(1), ticks: at(11) + at(12) + at(13) + at(14) };
}
