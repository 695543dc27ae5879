import type { LogEntry, RunDetail } from '@phalanx/protocol';

import type { ConnectionUpdate } from './events.ts';

/** Part of what `followRuns` hands out. */
export type RunUpdate =
  /** Entries of a run's log. `isTruncated`: the service has left some out in the middle of the log. */
  | {
      readonly type: 'log';
      readonly runId: string;
      readonly deviceId: string;
      readonly logs: readonly LogEntry[];
      readonly isTruncated: boolean;
    }
  /** A run has ended, and this is after its last entry. */
  | { readonly type: 'end'; readonly run: RunDetail }
  | ConnectionUpdate;
