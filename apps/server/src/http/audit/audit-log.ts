import type { AuditOutcome, ErrorCode } from '@phalanx/protocol';
import type { Clock } from '../../kernel/clock.ts';
import type { GroupCommit, Write } from '../../storage/db/group-commit.ts';
import type { ChangeNote } from '../../storage/db/change-note.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { ApiError } from '../../kernel/errors/api-error.ts';
import type { AuditEvent, AuditEventSink } from '../requests/audit-event.ts';
import { IncreasingIds } from '../../kernel/uuid-v7.ts';
import { Recurrences } from './recurrences.ts';
import type { AuditStore, StoredEntry } from './store.ts';

type NewEntry = Omit<StoredEntry, 'id' | 'count'>;

interface Noted {
  entry: NewEntry;
  readers: ReadonlySet<string>;
}

/**
 * Maximum number of kinds of refusals and of frequent events that are told apart until the next flush, per token and
 * for all strangers together.
 */
const maxRefusals = 50;
const maxDetailsLength = 8192;

/** Codes that hide a resource from users who may not see it. */
const hiding: ReadonlySet<ErrorCode> = new Set([
  'project_not_found',
  'device_not_found',
  'host_not_found',
  'run_not_found',
  'token_not_found',
  'record_not_found',
]);
/** Codes of failures that have changed some devices. */
const halfDone: ReadonlySet<ErrorCode> = new Set(['launch_not_acknowledged', 'stop_not_confirmed']);

/** Undefined: nothing was changed, and no right was missing. */
function outcomeOf(auditEvent: AuditEvent, { status, code }: ApiError): AuditOutcome | undefined {
  if (status === 401 || status === 403) return 'refused';
  if (auditEvent.action === 'read') return undefined;
  if (hiding.has(code)) return 'refused';
  return halfDone.has(code) || (status >= 500 && auditEvent.subject !== null) ? 'failed' : undefined;
}

const jsonOf = (details: Record<string, unknown>): string => {
  const json = JSON.stringify(details);
  return json.length <= maxDetailsLength ? json : '{"too_long":true}';
};

const notedOf = (auditEvent: AuditEvent, outcome: AuditOutcome, code: ErrorCode | null): Noted => ({
  entry: {
    action: auditEvent.action,
    outcome,
    code,
    user_id: auditEvent.actor.principal?.userId ?? null,
    user_name: auditEvent.actor.principal?.userName ?? null,
    token_id: auditEvent.actor.principal?.tokenId ?? null,
    token_name: auditEvent.actor.principal?.tokenName ?? null,
    address: auditEvent.actor.address,
    subject_type: auditEvent.subject?.type ?? null,
    subject_id: auditEvent.subject?.id ?? null,
    subject_name: auditEvent.subject?.name ?? null,
    details: jsonOf(auditEvent.details),
    request_id: auditEvent.actor.requestId,
  },
  readers: auditEvent.concerned,
});

interface Options {
  store: AuditStore;
  commits: GroupCommit;
  clock: Clock;
  faults: FaultMonitor;
}

/**
 * Log of actions with user, token and address. Entries are added, and deleted when they are old; none is changed.
 */
export class AuditLog implements AuditEventSink {
  readonly #options: Options;
  readonly #ids = new IncreasingIds();
  readonly #recurring: Recurrences<Noted>;
  /** Pending writes that no request awaits. */
  readonly #backgroundWrites = new Set<Promise<void>>();

  private constructor(options: Options) {
    this.#options = options;
    this.#recurring = new Recurrences({
      maxKinds: maxRefusals,
      collapse: ({ entry, readers }) => ({
        entry: { ...entry, address: null, subject_id: null, subject_name: null, details: '{"others":true}' },
        readers,
      }),
      write: (noted, count) => this.#writeLater(noted, count),
    });
  }

  static async open(options: Options): Promise<AuditLog> {
    const log = new AuditLog(options);
    const lastId = await options.store.findLastId();
    if (lastId !== undefined) log.#ids.resumeAfter(lastId);
    return log;
  }

  done(auditEvent: AuditEvent): Promise<void> {
    return this.#options.commits.write(this.writeOf(auditEvent));
  }

  noteOf(auditEvent: AuditEvent): ChangeNote {
    return {
      get isPending() {
        return auditEvent.subject !== null && !auditEvent.isNoted && !auditEvent.isFrequent;
      },
      write: (transaction) => this.writeOf(auditEvent)(transaction),
    };
  }

  /** Returns the write of an event whose change is a transaction of its own. */
  writeOf(auditEvent: AuditEvent): Write<void> {
    auditEvent.isNoted = true;
    return this.#writeOf(notedOf(auditEvent, 'done', null), 1);
  }

  failed(auditEvent: AuditEvent, error: ApiError): void {
    const outcome = outcomeOf(auditEvent, error);
    if (outcome !== undefined) this.#recur(notedOf(auditEvent, outcome, error.code));
  }

  /** Records an audit event that may occur in any number, without waiting for its write. */
  happened(auditEvent: AuditEvent): void {
    this.#recur(notedOf(auditEvent, 'done', null));
  }

  /** Writes the counted events. */
  flush(): void {
    this.#recurring.flush();
  }

  async close(): Promise<void> {
    this.flush();
    await Promise.all(this.#backgroundWrites);
  }

  #recur(noted: Noted): void {
    const { request_id: _, ...kind } = noted.entry;
    this.#recurring.note(kind.token_id ?? '', JSON.stringify(kind), noted);
  }

  #writeOf({ entry, readers }: Noted, count: number): Write<void> {
    const { store, clock } = this.#options;
    const stored = { ...entry, id: this.#ids.next(clock.now()), count };
    return (transaction) => store.insert(transaction, stored, readers);
  }

  #writeLater(noted: Noted, count: number): void {
    const { commits, faults } = this.#options;
    const written = commits
      .write(this.#writeOf(noted, count))
      .catch((error: unknown) => faults.report(error, 'an entry of the audit log could not be stored'))
      .finally(() => this.#backgroundWrites.delete(written));
    this.#backgroundWrites.add(written);
  }
}
