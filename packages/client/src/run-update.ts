import type { LogEntry, RunDetail } from '@phalanx/protocol';

import type { ConnectionUpdate } from './reconnected.ts';

/** Update of `followRuns`. */
export type RunUpdate =
  /** Entries of a run's log. `isTruncated`: the service has omitted some in the middle of the log. */
  | {
      readonly type: 'log';
      readonly runId: string;
      readonly deviceId: string;
      readonly logs: readonly LogEntry[];
      readonly isTruncated: boolean;
    }
  /** End of a run, after its last entry. */
  | { readonly type: 'end'; readonly run: RunDetail }
  | ConnectionUpdate;
