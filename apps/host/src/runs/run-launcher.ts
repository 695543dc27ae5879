import type { ApiClient } from '@phalanx/client/api-client';
import {
  type LaunchBundle,
  RecentBundles,
  type SandboxLogEntry,
  type ServerMessage,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { ServiceClock } from '../connection/service-clock.ts';
import { RunFilm } from '../film/run-film.ts';
import type { LogSpool } from '../logs/log-spool.ts';
import type { DefaultSettings } from '../driver/settings/default-settings.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import type { RecordLimits } from '../records/record-limits.ts';
import type { RecordSender } from '../records/outgoing/record-sender.ts';
import type { RunFileSender } from './files/run-file-sender.ts';
import type { SandboxJob, SandboxLimits, SandboxPool } from '../sandbox/index.ts';
import { executeRun, type RunStart, type RunTask } from './execute-run.ts';
import { type HeldRun, holdRun, type RunOutbox } from './run-outbox.ts';
import type { RunPermissions } from './run-permissions.ts';
import { failed, type RunEnd, type RunRecord } from './run-record.ts';
import { RunSecrets } from './run-secrets.ts';
import { RunTasks } from './run-tasks.ts';
import type { HostTimings } from '../time/host-timings.ts';

type Bundle = SandboxJob['bundle'];
type Launch = Extract<ServerMessage, { type: 'launch' }>;

export interface RunLauncherOptions {
  outbox: RunOutbox;
  records: RecordSender;
  files: RunFileSender;
  server: ApiClient;
  clock: ServiceClock;
  /** Maximum size of the film of one run, in bytes. */
  maxFilmBytes: number;
  /** Whether runs that were launched without a film are filmed too. */
  filmsAll: boolean;
  pictureLimits: Pick<RecordLimits, 'pictureMs' | 'lastLookMs'>;
  spool: LogSpool;
  phones: PhoneWatch;
  /** Settings that the operator wants on the phones of every run. */
  defaults: DefaultSettings;
  pool: SandboxPool;
  limits: SandboxLimits;
  timings: HostTimings;
  phoneGraceMs: number;
  permissions: RunPermissions;
  log: Logger;
}

const hostStopped = failed('host_stopped', 'The host program was stopped, which ended this run.');

const bundleMissing = failed(
  'bundle_missing',
  'The server did not send the code, and this host does not have it.',
);

/** Executes the server's requests about runs. Repeated requests are idempotent. */
export class RunLauncher {
  readonly #options: RunLauncherOptions;
  readonly #executing = new Set<Promise<RunEnd>>();
  #bundles = new RecentBundles<Bundle>();
  /** Secrets by project, for as long as a run uses them. */
  readonly #secrets = new Map<string, WeakRef<RunSecrets>>();
  #isClosed = false;

  constructor(options: RunLauncherOptions) {
    this.#options = options;
  }

  /** Forgets the bundles of an earlier connection: the server sends them again on the next one. */
  forgetBundles(): void {
    this.#bundles = new RecentBundles();
  }

  launch(message: Launch): void {
    const { outbox } = this.#options;
    const bundle = this.#bundleOf(message.bundle);
    const secrets = this.#secretsOf(message);
    for (const { run_id, device_id, serial, by } of message.runs) {
      if (outbox.runs.has(run_id)) {
        outbox.report(run_id);
        continue;
      }
      const run = holdRun(newRecord(run_id, { automation_id: message.automation_id, serial }));
      outbox.runs.add(run);
      if (this.#isClosed) outbox.end(run, hostStopped);
      else if (bundle === undefined) outbox.end(run, bundleMissing);
      else
        void this.#execute(run, {
          job: this.#jobOf(run_id, message, bundle),
          deviceId: device_id,
          serial,
          by,
          appLimit: message.app_limit,
          masks: message.masks ?? [],
          secrets,
          startWithinMs: message.start_within_ms,
          settings: this.#options.defaults.complete(serial, message.phone_settings),
          hasFilm: this.#options.filmsAll || message.film === true,
        });
    }
  }

  stop(runIds: readonly string[]): void {
    for (const runId of runIds) this.#stopOne(runId);
  }

  /** Ends all runs. Resolves when no run executes any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const run of this.#options.outbox.runs.list()) run.execution?.stop();
    await Promise.all(this.#executing);
  }

  #stopOne(runId: string): void {
    const { outbox } = this.#options;
    const run = outbox.runs.find(runId);
    if (run?.execution !== undefined) {
      run.isStopAsked = true;
      run.execution.stop();
    }
    if (!outbox.runs.has(runId)) this.#tellUnknown(runId);
    // A run that is still ending reports its end by itself as soon as it may.
    else if (run === undefined || run.mayTellEnd) outbox.report(runId);
  }

  /**
   * Reports a run that the host does not know as ended. The run is held like any other, so that a late launch does not
   * start it.
   */
  #tellUnknown(runId: string): void {
    const { outbox } = this.#options;
    const run = holdRun(newRecord(runId, { automation_id: '', serial: '' }));
    outbox.runs.add(run);
    outbox.end(run, failed('not_started', 'The host never had this run.'));
  }

  #bundleOf({ hash, content }: LaunchBundle): Bundle | undefined {
    if (content === null) return this.#bundles.find(hash);
    const bundle = { code: content.code, sourceMap: content.source_map };
    this.#bundles.add(hash, bundle.code.length + (bundle.sourceMap?.length ?? 0), bundle);
    return bundle;
  }

  /**
   * Reuses the secrets of an active run when they are the same: searching for a hundred long values takes some 25 MB of
   * memory.
   */
  #secretsOf({ automation_id: project, secrets = {} }: Launch): RunSecrets {
    for (const [id, known] of this.#secrets) if (known.deref() === undefined) this.#secrets.delete(id);
    const known = this.#secrets.get(project)?.deref();
    if (known?.areSame(secrets) === true) return known;
    const made = new RunSecrets(secrets);
    this.#secrets.set(project, new WeakRef(made));
    return made;
  }

  #jobOf(runId: string, { automation_parameters, job_variables }: Launch, bundle: Bundle): SandboxJob {
    return {
      runId,
      bundle,
      arguments: { automationParameters: automation_parameters, jobVariables: job_variables },
      limits: this.#options.limits,
    };
  }

  async #execute(run: HeldRun, { hasFilm, ...task }: RunTask & { hasFilm: boolean }): Promise<void> {
    const { outbox, records, files, spool, phones, pool, timings, phoneGraceMs, permissions, log } =
      this.#options;
    const { run_id } = run.record;
    const runLog = spool.open(run_id);
    const { serial, deviceId, appLimit } = task;
    const film = this.#filmOf(run_id, task);
    const start: RunStart = {
      journal: () => outbox.journalStart(run),
      permission: () => outbox.permission(run),
      begun: () => hasFilm && film?.begin(),
    };
    const recorder = records.recorderOf({ runId: run_id, serial, deviceId, appLimit });
    const execution = executeRun(task, {
      phones,
      timings,
      phoneGraceMs,
      permissions,
      pool,
      runLog,
      recorder,
      files: files.filesOf(run_id, task.secrets),
      film,
      hasFilm,
      tasks: new RunTasks({
        server: this.#options.server,
        runId: run_id,
        secrets: task.secrets,
        timeoutMs: this.#options.limits.durationMs,
      }),
      log,
      start,
    });
    run.execution = execution;
    this.#executing.add(execution.done);
    const end = this.#endOf(run, await execution.done);
    this.#executing.delete(execution.done);
    if (run.record.started_at !== null) void runLog.push(lastEntries(end));
    log.info({ runId: run_id, serial, status: end.status, error: end.error }, 'Run ended');
    outbox.end(run, end);
  }

  /** Returns the film of the run; undefined when this host makes none. */
  #filmOf(runId: string, { serial, appLimit }: RunTask): RunFilm | undefined {
    const {
      phones,
      files,
      clock,
      timings,
      maxFilmBytes: maxBytes,
      pictureLimits: limits,
      log,
    } = this.#options;
    if (maxBytes === 0) return undefined;
    return new RunFilm({
      runId,
      maxBytes,
      limits,
      timings,
      clock,
      log,
      take: async (signal) => {
        const phone = phones.find(serial);
        if (phone?.state.state !== 'ready') return undefined;
        return phone.driver().limitedTo(appLimit).takePassingPicture(signal);
      },
      video: async (after, signal) => {
        // The foreground app is known for each picture, but not for packets of a video.
        if (appLimit !== undefined) return { reason: 'the token of the run is limited to apps' };
        return (
          (await phones.find(serial)?.video?.next(after, signal, 'film')) ?? { reason: 'the phone is away' }
        );
      },
      keep: (about, content) => files.keepFilmPart(runId, about, content),
    });
  }

  /** Corrects the end of a run that the shutdown of the host has stopped: nobody requested that stop. */
  #endOf(run: HeldRun, end: RunEnd): RunEnd {
    return this.#isClosed && end.status === 'stopped' && !run.isStopAsked ? hostStopped : end;
  }
}

/**
 * Returns the reason for the end as a log entry, except for an uncaught error, which the log already contains with its
 * stack. Otherwise the reason would be missing there.
 */
function lastEntries({ status, error }: RunEnd): SandboxLogEntry[] {
  if (error === null || error.code === 'uncaught_error' || error.stack !== null || status === 'stopped')
    return [];
  return [{ timestamp: Date.now(), level: 'error', path: null, lineNumber: 0, message: error.message }];
}

function newRecord(runId: string, about: Pick<RunRecord, 'automation_id' | 'serial'>): RunRecord {
  return { run_id: runId, ...about, status: 'starting', error: null, started_at: null, ended_at: null };
}
