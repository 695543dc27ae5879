import type { LogEntry, RunDetail } from '@phalanx/protocol';
import { useState } from 'react';
import { call } from '../api/call.ts';
import { Button } from '../parts/button.tsx';
import { notifyFailure } from '../parts/notices.tsx';
import { textOfEntry } from './run-log.ts';

/** Saves the whole log of a run as a text file, also what the page does not hold. */
export function DownloadLog({ run }: { run: Pick<RunDetail, 'run_id'> }) {
  const [isBusy, setBusy] = useState(false);
  const download = async (): Promise<void> => {
    setBusy(true);
    try {
      save(`${run.run_id}.log`, await readWhole(run.run_id));
    } catch (error) {
      notifyFailure('The log was not downloaded', error);
    }
    setBusy(false);
  };
  return (
    <Button isBusy={isBusy} onClick={() => void download()}>
      Download log
    </Button>
  );
}

async function readWhole(runId: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let from: string | null | undefined; from !== null;) {
    const query: { from?: string } = from === undefined ? {} : { from };
    const page: { logs: LogEntry[]; next_cursor: string | null } = await call('GET /api/v2/runs/:id/logs', {
      params: { id: runId },
      query,
    });
    entries.push(...page.logs);
    from = page.next_cursor;
  }
  return entries;
}

function save(name: string, entries: readonly LogEntry[]): void {
  const text = entries.map((entry) => `${textOfEntry(entry)}\n`).join('');
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
