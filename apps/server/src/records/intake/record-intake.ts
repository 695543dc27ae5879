import type { RecordReport } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { Clock } from '../../clock.ts';
import type { Fleet } from '../../devices/fleet.ts';
import type { HostLink } from '../../hosts/host-link.ts';
import { isUuidV7, timeOfUuidV7 } from '../../uuid-v7.ts';
import type { AutomationAccess } from '../access-store.ts';
import { expectedCaptures, newRecord, type ExpectedCapture, type RecordOrigin } from './new-record.ts';
import type { RecordChanges } from '../record-changes.ts';
import type { RetentionLimits } from '../retention/retention-store.ts';
import type { RecordStore } from '../store.ts';

/** What the intake must know of a run. */
export interface OriginRun {
  readonly user_id: string;
  readonly device_owner_id: string;
  readonly host_id: string;
  readonly device_id: string;
  readonly automation_id: string;
  readonly launch_id: string | null;
  readonly commit: string | null;
}

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  findRun: (runId: string) => Promise<OriginRun | undefined>;
  fleet: Fleet;
  clock: Clock;
  log: Logger;
  limits: RetentionLimits;
  changes: RecordChanges;
}

/** Direct code has no name of its own. */
const directName = 'Direct automation';
/** A host's clock follows the service's, but not to the millisecond. */
const maxAheadMs = 60_000;
/** A host that was away for longer has nothing that anybody still waits for. */
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;

function timeProblem(id: string, nowMs: number): string | undefined {
  if (!isUuidV7(id)) return 'its ID is no UUIDv7';
  const time = timeOfUuidV7(id);
  if (time > nowMs + maxAheadMs) return 'its ID lies in the future';
  return time < nowMs - maxAgeMs ? 'it is older than 7 days' : undefined;
}

function screensProblem({ screens }: RecordReport): string | undefined {
  const ids = new Set(screens.map((screen) => screen.screen_id.toLowerCase()));
  return ids.size === screens.length ? undefined : 'two of its screens have one ID';
}

/** Takes in the records that hosts tell of. */
export class RecordIntake {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Stores a record, or finds that it is stored, and tells the host which captures have still to come. */
  async take(link: HostLink, report: RecordReport): Promise<void> {
    const missing = await this.#take(link, report);
    link.send({ type: 'record_stored', record_id: report.record_id, missing });
  }

  /** No captures when the host may forget the record, because it is complete, or because it can never be taken. */
  async #take(link: HostLink, report: RecordReport): Promise<ExpectedCapture[]> {
    const id = report.record_id.toLowerCase();
    const runId = report.run_id.toLowerCase();
    const run = await this.#options.findRun(runId);
    if (run === undefined || run.device_owner_id !== link.userId || run.host_id !== link.hostId)
      return this.#refuse(link, id, 'its run is not one of this host');
    // Before the time is looked at: what is stored already may have grown old meanwhile.
    const known = await this.#options.store.find(id);
    if (known !== undefined) return this.#answerKnown(link, known, runId);
    const problem = timeProblem(id, this.#options.clock.now()) ?? screensProblem(report);
    return problem === undefined ? this.#store(link, report, run) : this.#refuse(link, id, problem);
  }

  async #store(link: HostLink, report: RecordReport, run: OriginRun): Promise<ExpectedCapture[]> {
    const { store, limits, clock, changes } = this.#options;
    const origin = await this.#originOf(run, report.record_id.toLowerCase());
    if (origin === undefined) return this.#refuse(link, report.record_id, 'its project is gone');
    const { record, screens } = newRecord(report, origin);
    const { deleted } = await store.insert(record, screens, {
      ...{ limits, nowMs: clock.now(), commit: run.commit },
    });
    changes.stored(record, screens);
    changes.deleted(deleted);
    // The limit may have cost the record itself, when it comes late.
    const isKept = deleted === 0 || (await store.find(record.id)) !== undefined;
    return isKept ? expectedCaptures(screens) : [];
  }

  async #originOf(run: OriginRun, id: string): Promise<RecordOrigin | undefined> {
    const automation = await this.#automationOf(run);
    if (automation === undefined) return undefined;
    const device = (await this.#options.fleet.find(run.device_id))?.stored;
    return {
      owner_id: automation.ownerId,
      automation_id: run.automation_id,
      project_id: run.launch_id === null ? run.automation_id : null,
      automation_name: automation.name,
      user_id: run.device_owner_id,
      device_id: run.device_id,
      device_info: JSON.stringify({
        brand: device?.brand ?? '',
        model: device?.model ?? '',
        device_id: run.device_id,
        android_version: device?.android_version ?? '',
      }),
      added_at: timeOfUuidV7(id),
    };
  }

  async #automationOf(run: OriginRun): Promise<{ ownerId: string; name: string } | undefined> {
    if (run.launch_id === null) return this.#options.access.findProject(run.automation_id);
    return { ownerId: run.user_id, name: directName };
  }

  async #answerKnown(
    link: HostLink,
    known: { id: string; run_id: string },
    runId: string,
  ): Promise<ExpectedCapture[]> {
    if (known.run_id !== runId) return this.#refuse(link, known.id, 'another run has a record of this ID');
    return expectedCaptures(await this.#options.store.listScreens(known.id));
  }

  #refuse(link: HostLink, id: string, reason: string): [] {
    this.#options.log.warn({ host: link.hostName, record: id, reason }, 'a record of a host was refused');
    return [];
  }
}
