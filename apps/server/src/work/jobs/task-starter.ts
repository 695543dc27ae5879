import { JsonObject } from '@phalanx/protocol';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Clock } from '../../kernel/clock.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { Launches } from '../../runs/launches/launches.ts';
import { readPhoneSettings } from './job-view.ts';
import type { StoredJob, StoredTask } from './store.ts';
import { TaskNotStartable, type TaskStore } from './task-store.ts';
import { limitsOfKept } from '../../http/requests/kept-token.ts';
import type { Maker } from './work-access.ts';

type KnownUser = Pick<Row<'user'>, 'id' | 'name' | 'role' | 'disabled_at'>;
export type FindUser = (id: string) => Promise<KnownUser | undefined>;

interface Options {
  findUser: FindUser;
  launches: Pick<Launches, 'startTask'>;
  tasks: TaskStore;
  clock: Clock;
  faults: FaultMonitor;
}

/** Error codes that currently prevent every task of a job from starting. */
const finalCodes: ReadonlySet<string> = new Set([
  'project_not_found',
  'compile_failed',
  'invalid_masks',
  'invalid_tsconfig',
  'forbidden',
]);

const object = Compile(JsonObject);
const parse = (json: string): Static<typeof JsonObject> => object.Parse(JSON.parse(json));

/** Starts the run of a task with the current rights of the maker of its job. */
export class TaskStarter {
  readonly #options: Options;
  readonly #beginning = new Set<Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether the other tasks of the job would fail for the same reason. */
  isFinal = ({ code }: ApiError): boolean => finalCodes.has(code);

  /** Starts a task. Resolves when its run is stored. Throws `TaskNotStartable` or the errors of a launch. */
  async start(
    job: StoredJob,
    task: Pick<StoredTask, 'id' | 'input' | 'due_at'>,
    deviceId: string,
  ): Promise<void> {
    const { launches, tasks, clock } = this.#options;
    const started = launches.startTask({
      principal: await this.principalOf(job),
      automationId: job.project_id,
      deviceId,
      inputs: {
        automationParameters: parse(job.parameters),
        jobVariables: task.input === null ? {} : parse(task.input),
        film: job.has_film === 1,
        phoneSettings: readPhoneSettings(job.phone_settings),
      },
      claim: tasks.claim(job, task, clock.now()),
    });
    const { begun } = await started.catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'already_running' ? new TaskNotStartable() : error;
    });
    this.#follow(begun);
  }

  /** Resolves when every run has started or was cancelled. */
  async close(): Promise<void> {
    await Promise.all(this.#beginning);
  }

  #follow(begun: Promise<unknown>): void {
    const { faults } = this.#options;
    const followed = begun.then(
      () => void this.#beginning.delete(followed),
      (error: unknown) => {
        this.#beginning.delete(followed);
        faults.report(error, 'a run that did not start could not be cancelled');
      },
    );
    this.#beginning.add(followed);
  }

  /**
   * Returns a principal with the current rights of the maker. Throws `forbidden` when the user is disabled or deleted.
   */
  async principalOf(job: Maker): Promise<Principal> {
    const user = await this.#options.findUser(job.user_id);
    if (user === undefined || user.disabled_at !== null)
      throw ApiError.of('forbidden', { reason: 'The user who made the job is disabled or deleted' });
    return {
      userId: user.id,
      userName: user.name,
      role: user.role,
      tokenId: '',
      tokenName: job.token_name ?? '',
      scopes: new Set(['read', 'launch']),
      ...limitsOfKept(job),
      expiresAt: null,
    };
  }
}
