import type { RecordReport, ServerMessage } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { Fleet } from '../devices/fleet.ts';
import type { LogIngest } from '../logs/ingest.ts';
import type { RunOwners } from '../runs/run-owners.ts';
import type { RunLifecycle } from '../runs/run-lifecycle.ts';
import type { HostEvents } from './connection.ts';
import type { HostLink } from './host-link.ts';

/** RFC 6455: try again later. */
const tryAgainLater = 1013;

type MissingCaptures = Extract<ServerMessage, { type: 'record_stored' }>['missing'];

interface Features {
  fleet: Fleet;
  lifecycle: RunLifecycle;
  owners: RunOwners;
  ingest: LogIngest;
  log: Logger;
  /** Takes in a record, and returns the captures that have still to come. */
  takeRecord: (link: HostLink, report: RecordReport) => Promise<MissingCaptures>;
}

/** Brings what hosts say to the features that it concerns. */
export function createHostEvents({
  fleet,
  lifecycle,
  owners,
  ingest,
  log,
  takeRecord,
}: Features): HostEvents {
  return {
    async hello(link, { devices, runs }) {
      // Runs first: a device that is ready must not seem free while a run of it is still unheard of.
      await lifecycle.reconcile(link, runs);
      await fleet.report(link, devices);
    },
    devices: (link, reports) => fleet.report(link, reports),
    heartbeat: (link, ready) => fleet.confirm(link, ready),
    async runs(link, reports) {
      // Not waited for: what the host says next is not held up by the disk.
      lifecycle.report(link, reports).catch((error: unknown) => {
        log.error({ err: error }, 'run reports could not be stored; the host will repeat them');
        link.drop(tryAgainLater, 'run reports could not be stored');
      });
    },
    async logs(link, runId, { firstSeq, entries }) {
      const stream = await owners.findStream(link, runId);
      if (stream !== undefined) ingest.add(link, { stream, firstSeq, entries });
      // Nobody may read them, and the host need not keep them.
      else link.send({ type: 'logs_stored', run_id: runId, seq: firstSeq + entries.length - 1 });
    },
    async record(link, report) {
      const missing = await takeRecord(link, report);
      link.send({ type: 'record_stored', record_id: report.record_id, missing });
    },
    closed(link) {
      fleet.disconnect(link);
      lifecycle.disconnect(link);
    },
  };
}
