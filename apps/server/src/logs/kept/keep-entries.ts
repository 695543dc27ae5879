import { setImmediate as nextTurn } from 'node:timers/promises';

import { entrySeparator, runIdOf, type StoredBatch } from '../log-batch.ts';
import type { ClosedLogs } from '../log-store.ts';
import type { KeptLogs } from './kept-logs.ts';

/** Entries that are read at a time, without a turn of the event loop; and those of one chunk, before they are packed. */
const stepBytes = 512 * 1024;
const chunkBytes = 256 * 1024;
/** So many runs wait for each other, so that their files are written beside each other. */
const runsAtOnce = 32;

interface Part {
  batches: StoredBatch[];
  sizeBytes: number;
}

/** Adds the entries to the kept logs of their runs. It can be done again from the start. Returns the runs. */
export async function keepEntries(logs: ClosedLogs, kept: KeptLogs): Promise<Set<string>> {
  const runIds = new Set<string>();
  const parts = new Map<string, Part>();
  for await (const batches of logs.readAll(stepBytes)) {
    for (const batch of batches) {
      const runId = runIdOf(batch.entries);
      if (runId === undefined) continue;
      runIds.add(runId);
      const isFull = await addTo(parts, runId, batch, kept);
      if (isFull || parts.size >= runsAtOnce) await keepParts(logs, kept, parts);
    }
    await nextTurn();
  }
  await keepParts(logs, kept, parts);
  return runIds;
}

/** Whether there is enough of the batch's run for a chunk. */
async function addTo(
  parts: Map<string, Part>,
  runId: string,
  batch: StoredBatch,
  kept: KeptLogs,
): Promise<boolean> {
  if (batch.last_id <= (await kept.stateOf(runId)).lastId) return false;
  const part = parts.get(runId) ?? { batches: [], sizeBytes: 0 };
  parts.set(runId, part);
  part.batches.push(batch);
  part.sizeBytes += batch.entries.length;
  return part.sizeBytes >= chunkBytes;
}

async function keepParts(logs: ClosedLogs, kept: KeptLogs, parts: Map<string, Part>): Promise<void> {
  const all = [...parts];
  parts.clear();
  // Of all: as long as they are not kept as a whole, they are there to say so themselves.
  const appended = await Promise.allSettled(
    all.map(([runId, { batches }]) =>
      kept.append(runId, { ...chunkOf(batches), seq: logs.progressOf(runId) }),
    ),
  );
  // After all of them: when it is done again, nothing of this time may still be under way.
  for (const one of appended) if (one.status === 'rejected') throw one.reason;
}

const separator = Buffer.from(entrySeparator);

function chunkOf(batches: readonly StoredBatch[]) {
  const texts = batches.flatMap(({ entries }, index) => (index === 0 ? [entries] : [separator, entries]));
  return {
    first_id: batches[0]?.first_id ?? '',
    last_id: batches.at(-1)?.last_id ?? '',
    count: batches.reduce((sum, { count }) => sum + count, 0),
    entries: Buffer.concat(texts),
  };
}
