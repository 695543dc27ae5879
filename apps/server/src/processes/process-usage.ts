import { readFile } from 'node:fs/promises';

const pageBytes = 4096;
const msPerTick = 10;

/** Resident memory of processes together. Where there is no /proc it counts as nothing: there is no limit then. */
export async function residentBytesOf(processIds: readonly number[]): Promise<number> {
  return sum(await Promise.all(processIds.map(readResidentBytes)));
}

/** Time of the processors that processes have had together. */
export async function processorMsOf(processIds: readonly number[]): Promise<number> {
  return sum(await Promise.all(processIds.map(readTicks))) * msPerTick;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

async function readResidentBytes(processId: number): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${processId}/statm`, 'utf8')).split(' ');
    return Number(fields[1] ?? 0) * pageBytes;
  } catch {
    return 0;
  }
}

async function readTicks(processId: number): Promise<number> {
  try {
    // The name in brackets may have anything in it: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = (await readFile(`/proc/${processId}/stat`, 'utf8')).split(') ').at(-1)?.split(' ') ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  } catch {
    return 0;
  }
}
