import path from 'node:path';
import { Type } from 'typebox';

import { encodeBatch, type LogBatch } from '../../apps/server/src/runs/logs/log-batch.ts';
import { IncreasingIds } from '../../apps/server/src/kernel/uuid-v7.ts';
import { LogFile } from '../../apps/server/src/runs/logs/tables/log-file-store.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { sampleEntries } from '../hosts/log-sender.ts';

const ids = new IncreasingIds();
let file: LogFile | undefined;
let batches: LogBatch[] = [];
let prepared: LogBatch[][] = [];

/** Returns a batch like the server's, one per stream. */
function sampleBatch(index: number, entryCount: number): LogBatch {
  const automationId = crypto.randomUUID();
  const stream = {
    runId: crypto.randomUUID(),
    deviceId: `device-${index}`,
    automationId,
    userId: 'owner',
    isDirect: true,
  };
  const entries = sampleEntries(entryCount);
  return encodeBatch(ids, Date.now(), stream, { lastSeq: entryCount, entries });
}

/** Returns the same rows with the key of a later batch. */
function followUp(batch: LogBatch): LogBatch {
  return { ...batch, lastSeq: batch.lastSeq + batch.count, lastId: ids.next(Date.now()) };
}

answerParent({
  open: command(
    Type.Object({
      folder: Type.String(),
      streams: Type.Integer(),
      min: Type.Integer(),
      max: Type.Integer(),
    }),
    ({ folder, streams, min, max }) => {
      file = new LogFile(path.join(folder, 'baseline.db'));
      batches = Array.from({ length: streams }, (_, index) =>
        sampleBatch(index, min + (index % (max - min + 1))),
      );
    },
  ),
  /** Prepares transactions with a batch of every stream. */
  prepare: command(Type.Object({ transactions: Type.Integer() }), ({ transactions }) => {
    prepared = Array.from({ length: transactions }, () => (batches = batches.map(followUp)));
  }),
  /** Stores the prepared transactions. Counts entries. */
  append: () => {
    const startedAt = performance.now();
    for (const some of prepared) file?.append(some);
    const elapsedMs = performance.now() - startedAt;
    return { count: prepared.flat().reduce((sum, batch) => sum + batch.count, 0), elapsedMs };
  },
});
