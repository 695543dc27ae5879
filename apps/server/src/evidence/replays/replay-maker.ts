import { hourMs, minuteMs } from '@phalanx/timing/durations';
import {
  ReplayFetches,
  replayFetchesPath,
  type ReplayCounts,
  type SequenceOutcome,
  type GoldenExpectation,
  isExpected,
  isHandled,
  isUnknownState,
  type ReplayChange,
  type ReplayOutcome,
  type ReplayVerdict,
} from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import type { Claim } from '../../storage/db/work-queue.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { findExcess } from '../../http/requests/bodies/json-bounds.ts';
import type { LaunchPreparation } from '../../runs/launches/launch-preparation.ts';
import { createProjectFiles, type SavedFiles } from '../../code/projects/project-files.ts';
import type { KeptScreens } from '../records/groups/prints/kept-screens.ts';
import type { ReplayChanges } from './replay-view.ts';
import { type DraftDesk, layDraft, unpackDraft } from './draft.ts';
import { type HostCode, NoReplayHost, type ReplayHosts } from './replay-hosts.ts';
import type { SequenceReplays } from './sequence-replays.ts';
import { listScreens, type ReadableScreen, readScreens, type SetScreen } from './screens-of-set.ts';
import { type Attempt, noCounts, type ReplayStore, type StoredReplay, type StoredVerdict } from './store.ts';

/** Lease of a replay, longer than one of its steps. A killed server blocks its replays for this long. */
export const claimMs = 45_000;
const screensPerStep = 50;
const lengthPerStep = 2 * 1024 * 1024;
/** Time limit of a replay of a set of screens. */
const maxMs = 10 * minuteMs;
/** Time that an automatic replay waits for a host. */
const hostTimeoutMs = 2 * minuteMs;
/** Maximum age at which a replay of a set of screens is started. */
const maxAgeMs = hourMs;
const maxFetchesBytes = 1024 * 1024;
const fetches = Compile(ReplayFetches);

const noHost =
  'No host that may replay screens of this project is connected: start one with a token of the owner, or of a shared editor who has accepted the project ("phalanx host").';

/** Error whose message tells users why a replay cannot be made. */
class CannotReplay extends Error {
  override readonly name = 'CannotReplay';
}

/** Explains to users why a replay has failed. Rethrows faults of the service. */
function problemOf(error: unknown, { cause }: StoredReplay): string {
  if (error instanceof CannotReplay) return error.message;
  if (error instanceof NoReplayHost)
    return cause === 'request' ? 'No host has replayed a screen for a minute.' : noHost;
  if (error instanceof ApiError) return error.message.slice(0, 2000).toWellFormed();
  throw error;
}

/** Attempt at a replay, with the signal that this server stops. */
interface Making extends Attempt {
  readonly signal: AbortSignal;
}

interface Options {
  keptScreens: KeptScreens;
  store: ReplayStore;
  hosts: ReplayHosts;
  preparation: Pick<LaunchPreparation, 'bundle' | 'checkParameters'>;
  projectServices: DraftDesk;
  sequences: SequenceReplays;
  /** Lists the users whose hosts may see the screens of a project. */
  listHostOwners: (automation: { ownerId: string; automationId: string }) => Promise<string[]>;
  changes: ReplayChanges;
  clock: Clock;
  /** Interval at which an automatic replay looks for a host. */
  hostLookMs: number;
}

/** Makes replays. */
export class ReplayMaker {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Makes a claimed replay. Rejects when it has to be made again. */
  async make(claim: Claim, signal: AbortSignal): Promise<void> {
    const { store, changes, clock } = this.#options;
    const attempt = await store.begin(claim, clock.now());
    if (attempt === undefined) return;
    changes.changed(attempt.replay);
    if (await this.#finish({ ...attempt, signal })) changes.changed(attempt.replay);
    else signal.throwIfAborted();
  }

  /** Completes a replay. Returns false when this server no longer has it. */
  async #finish(making: Making): Promise<boolean> {
    const { store, clock, hostLookMs } = this.#options;
    const { replay } = making;
    let sequence: string | null = null;
    try {
      if (replay.record_id !== null) {
        const outcome = await this.#replaySequence(making, replay.record_id);
        if (outcome === undefined) return false;
        sequence = JSON.stringify(outcome).toWellFormed();
      } else if (!(await this.#replayAll(making))) return false;
    } catch (error) {
      const now = clock.now();
      const problem = problemOf(error, replay);
      const isPatient = replay.cause !== 'request' && now - replay.created_at < hostTimeoutMs;
      if (error instanceof NoReplayHost && isPatient)
        return store.postpone(making, { until: now + hostLookMs, problem });
      return store.end(making, { status: 'failed', problem, now });
    }
    return store.end(making, { status: 'done', problem: '', sequence, now: clock.now() });
  }

  /**
   * Replays all screens. Returns false when the replay was stopped, another server has claimed it, or this server
   * stops.
   */
  async #replayAll(making: Making): Promise<boolean> {
    const { keptScreens, store, hosts, changes, clock } = this.#options;
    const { replay, signal } = making;
    if (clock.now() - replay.created_at > maxAgeMs)
      throw new CannotReplay('It was not completed within an hour.');
    const files = await this.#filesOf(replay);
    const screens = await listScreens(keptScreens, replay, files);
    if (screens.length === 0) return true;
    const { owner_id: ownerId, project_id: automationId } = replay;
    const hostOwners = await this.#options.listHostOwners({ ownerId, automationId });
    if (replay.cause !== 'request' && !(await hosts.isThere(hostOwners))) throw new NoReplayHost();
    const code = await this.#codeOf(replay, files);
    const before = await store.mapBefore(replay);
    const counts: ReplayCounts = { ...noCounts, screens: screens.length };
    const goesOn = async (verdicts: readonly StoredVerdict[] = []): Promise<boolean> => {
      const now = clock.now();
      if (now - (replay.started_at ?? now) > maxMs) throw new CannotReplay('It took more than ten minutes.');
      if (signal.aborted) return false;
      if (!(await store.proceed(making, { until: now + claimMs, counts, verdicts }))) return false;
      if (verdicts.length > 0) changes.changed(replay);
      return true;
    };
    let position = 0;
    for await (const step of stepsOf(screens, (some) =>
      readScreens(keptScreens, replay, { files, screens: some }),
    )) {
      const readable = step.filter(({ problem }) => problem === '');
      const shown = readable.map(({ treeJson, stage }) => ({ tree_json: treeJson, stage }));
      const verdicts = await hosts.replay(hostOwners, { code, screens: shown }, () => goesOn());
      const rows: StoredVerdict[] = [];
      for (const screen of step) {
        const verdict =
          screen.problem === ''
            ? verdicts[readable.indexOf(screen)]
            : unreadable(screen.name, screen.problem);
        // The replay was stopped before this screen.
        if (verdict === undefined || verdict === null) continue;
        const outcome = outcomeOf(verdict, screen.expect);
        const known = before.get(screen.name);
        const change = changeOf(outcome, known === undefined ? screen.wasKnown : isKnown(known));
        count(counts, { kind: screen.kind, outcome, change });
        const { kind, name, groupId: group_id, expect } = screen;
        const of = { replay_id: replay.id, position, kind, name, group_id, expected: expect?.state ?? null };
        rows.push({ ...of, outcome, change, verdict: JSON.stringify(verdict).toWellFormed() });
        position += 1;
      }
      if (!(await goesOn(rows))) return false;
    }
    return true;
  }

  /**
   * Replays the screens of a record in order. Returns undefined when the replay was stopped, another server has claimed
   * it, or this server stops.
   */
  async #replaySequence(making: Making, recordId: string): Promise<SequenceOutcome | undefined> {
    const { sequences, store, clock } = this.#options;
    const { replay, signal } = making;
    const { owner_id: ownerId, project_id: automationId } = replay;
    const read = await sequences.read(recordId);
    if ('problem' in read) throw new CannotReplay(`The record ${read.problem}.`);
    const counts: ReplayCounts = { ...noCounts, screens: read.sequence.screens.length };
    const goesOn = async (): Promise<boolean> => {
      const until = clock.now() + claimMs;
      return !signal.aborted && store.proceed(making, { until, counts, verdicts: [] });
    };
    const files = await this.#filesOf(replay);
    const outcome = await sequences.replay({
      read,
      goesOn,
      treeId: files.treeId,
      projectId: automationId,
      hostOwners: await this.#options.listHostOwners({ ownerId, automationId }),
      codeOf: (treeId, parameters) =>
        this.#codeOf(replay, treeId === files.treeId ? files : this.#filesOfTree(replay, treeId), parameters),
    });
    counts.replayed = outcome === undefined ? 0 : screensOf(outcome.result);
    return outcome !== undefined && (await goesOn()) ? outcome : undefined;
  }

  #filesOfTree({ project_id: projectId, made_by: userId }: StoredReplay, treeId: string): SavedFiles {
    const { projectServices } = this.#options;
    const files = createProjectFiles(projectId, treeId, (work) =>
      projectServices.repositories.read(projectId, work),
    );
    return { ...files, userId };
  }

  async #filesOf(replay: StoredReplay): Promise<SavedFiles> {
    const { projectServices, store } = this.#options;
    const { id, project_id: projectId, tree_id: treeId, made_by: userId } = replay;
    if (replay.is_draft === 1) {
      const draft = await store.findDraft(id);
      // The replay was stopped in the meantime, or another server has taken it over.
      if (draft === undefined) throw new CannotReplay('Its draft was deleted.');
      return { ...(await layDraft(projectServices, projectId, await unpackDraft(draft))), userId };
    }
    return this.#filesOfTree(replay, treeId);
  }

  /** Bundles the code as a launch would get it. */
  async #codeOf(
    replay: StoredReplay,
    files: SavedFiles,
    parameters: Record<string, unknown> = {},
  ): Promise<HostCode> {
    const { preparation } = this.#options;
    const { code, sourceMap } = await preparation.bundle(files);
    const given = await preparation
      .checkParameters({ files }, parameters, replay.made_by)
      // A required parameter is missing: the code gets the given parameters without defaults.
      .catch((error: unknown) => {
        if (error instanceof ApiError) return parameters;
        throw error;
      });
    const fetched = await readFetches(files);
    return { code, source_map: sourceMap, parameters: given, job_variables: {}, fetches: fetched };
  }
}

async function readFetches(files: SavedFiles): Promise<ReplayFetches> {
  const file = await files.readUpTo(replayFetchesPath, maxFetchesBytes);
  if (file === undefined) return [];
  const problem = new CannotReplay(`${replayFetchesPath} is invalid: run "phalanx test" to see why.`);
  if (!('text' in file) || findExcess(Buffer.from(file.text)) !== undefined) throw problem;
  try {
    const value: unknown = JSON.parse(file.text);
    if (fetches.Check(value)) return value;
  } catch {
    throw problem;
  }
  throw problem;
}

/** Splits screens into steps, each small enough for one question. */
async function* stepsOf(
  screens: readonly SetScreen[],
  read: (screens: readonly SetScreen[]) => Promise<ReadableScreen[]>,
): AsyncGenerator<ReadableScreen[]> {
  for (let start = 0; start < screens.length; start += screensPerStep) {
    let step: ReadableScreen[] = [];
    let length = 0;
    for (const screen of await read(screens.slice(start, start + screensPerStep))) {
      if (step.length > 0 && length + screen.treeJson.length > lengthPerStep) {
        yield step;
        [step, length] = [[], 0];
      }
      step.push(screen);
      length += screen.treeJson.length;
    }
    if (step.length > 0) yield step;
  }
}

const unreadable = (name: string, problem: string) =>
  ({ kind: 'cannot', message: `${name} ${problem}`.slice(0, 2000) }) as const;

/** Returns the number of screens that were shown to the code. */
const screensOf = (result: SequenceOutcome['result']): number =>
  result.kind === 'same' ? result.screens : result.index + 1;

function count(
  counts: ReplayCounts,
  { kind, outcome, change }: Pick<StoredVerdict, 'kind' | 'outcome' | 'change'>,
): void {
  counts.replayed += 1;
  if (kind === 'golden') counts.golden += 1;
  if (outcome === 'expected') counts.golden_expected += 1;
  if (outcome === 'handled') counts.handled += 1;
  if (isKnown(outcome)) counts.known += 1;
  if (outcome === 'not_told') counts.not_told += 1;
  if (change !== 'unchanged') counts[change] += 1;
}

/** Returns the outcome of a verdict. `expect` is the expectation of a golden screen, null for other screens. */
function outcomeOf(verdict: ReplayVerdict, expect: GoldenExpectation | null): ReplayOutcome {
  if (verdict.kind === 'threw' || verdict.kind === 'limit') return 'failed';
  if (verdict.kind !== 'state') return 'not_told';
  if (expect !== null) return isExpected(expect, verdict) ? 'expected' : 'unexpected';
  if (isUnknownState(verdict.state)) return 'unknown';
  return isHandled(verdict) ? 'handled' : 'recognised';
}

const isKnown = (outcome: ReplayOutcome): boolean =>
  outcome === 'handled' || outcome === 'recognised' || outcome === 'expected';

function changeOf(outcome: ReplayOutcome, wasKnown: boolean): ReplayChange {
  if (isKnown(outcome) === wasKnown) return 'unchanged';
  return wasKnown ? 'broken' : 'recognised';
}
