import { readFile } from 'node:fs/promises';

const pageBytes = 4096;

/** Resident memory of processes together. Where there is no /proc it counts as nothing: there is no limit then. */
export async function readMemoryUse(processIds: readonly number[]): Promise<number> {
  const sizes = await Promise.all(processIds.map(readResidentBytes));
  return sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
}

async function readResidentBytes(processId: number): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${processId}/statm`, 'utf8')).split(' ');
    return Number(fields[1] ?? 0) * pageBytes;
  } catch {
    return 0;
  }
}
