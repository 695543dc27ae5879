import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';
import { withNote } from '../../storage/db/change-note.ts';
import { errorCodeOf, ApiError } from '../../kernel/errors/api-error.ts';
import { findFault } from '../../kernel/faults/fault-monitor.ts';
import { packObjects, listPacked } from '../git/pack.ts';
import type { AuditEvent, AuditEventSink } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { indexOf } from '../projects/packs/large-packs.ts';
import type { LoggedPack, ProjectRepositories } from '../projects/repositories/project-repositories.ts';
import type { ProjectServices } from '../projects/project-files.ts';
import type { Solving } from '../commits/solving.ts';
import type { Transaction } from '../../storage/db/tables/tables.ts';
import type { Draft } from '../git/draft.ts';
import { noObject, type GitObjects } from '../git/git-objects.ts';
import {
  type Change,
  isDirty,
  type SavedState,
  storeCompiled,
  keepCompiled,
} from '../projects/saved-state.ts';
import { HookStream, flush, pktLine, readPktLines } from './git-exchange.ts';
import { readPush } from './read-push.ts';
import {
  checkPush,
  PushRefused,
  type Push,
  seenWith,
  type NewMain,
  parsePushedRef,
  isDeletion,
  type PushedRef,
} from './push-check.ts';
import { mainBranch } from '../git/main-branch.ts';
import { foldersOf } from '../files/folders-of.ts';

interface GateOptions {
  projectServices: ProjectServices;
  audit: AuditEventSink;
  log: Logger;
  auditEvent: AuditEvent;
  projectId: string;
  principal: Principal;
  solving: Solving;
  /** Streams from and to the hooks of this push. */
  fromHooks: Readable;
  toHooks: Writable;
}

/** Reply to the first hook when the push is allowed to proceed. */
const accepted = 'accepted\n';

/**
 * Accepts or refuses one push through git's hooks. Resolves when git has closed its stream or has received its replies.
 */
export async function guardPush(options: GateOptions): Promise<void> {
  const { toHooks, projectId, principal, projectServices, solving, auditEvent } = options;
  const { repositories } = projectServices;
  const stream = new HookStream(options.fromHooks);
  let stored: StoredPush | undefined;
  try {
    const read = await readPush(stream);
    if (read === undefined) return;
    const push = { projectId, ...read };
    const firstVersion = await repositories.findFirstVersion(projectId);
    const { main, ids } = await checkPush(projectServices, push);
    const refs = push.refs.slice(0, 10).map(({ name, after }) => ({ name, after }));
    auditEvent.add({ refs, ref_count: push.refs.length });
    if (main !== undefined)
      await repositories.read(projectId, (repository, state) => requireClean(repository, state, main));
    const of = { principal, projectId };
    const solves = await solving.find(of, main?.commits ?? []);
    if (solves.length > 0) auditEvent.add({ solves: solves.map(({ groupId }) => groupId) });
    const note: StoredPush['note'] = (transaction) => solving.note(transaction, of, solves);
    stored = { ...push, main, firstVersion, packs: await storePush(repositories, push, ids), note };
    toHooks.write(shown((main?.warnings ?? []).map((line) => `warning: ${line}`)));
    toHooks.write(shown(solves.map(({ hash, groupId }) => `${hash.slice(0, 7)} solves group ${groupId}.`)));
    toHooks.write(accepted);
    await answerReceive(options, stream, stored);
  } catch (error) {
    // Closes the stream from the hook, because the hook reads the reply only once it can't send any more.
    options.fromHooks.destroy();
    toHooks.write(refusal(options, error));
  } finally {
    // Enqueues the removal of the push's large packs, except those that a change has stored.
    if (stored !== undefined) await repositories.dropPacks(stored.packs);
    toHooks.end();
  }
}

function refusal({ log, projectId }: GateOptions, error: unknown): string {
  const isOurs = !(error instanceof PushRefused) && !(error instanceof ApiError && error.status < 500);
  if (isOurs) log.error({ err: error, projectId }, 'a push could not be checked');
  const fault = findFault(error);
  const reason = fault === undefined ? 'its log has the reason' : `${fault.reason}. Push again later`;
  return `${shown(linesOf(error) ?? [`The service could not check this push: ${reason}.`])}refused\n`;
}

/** Returns the lines for the client about an error. Undefined for an internal error. */
function linesOf(error: unknown): readonly string[] | undefined {
  if (error instanceof PushRefused) return error.lines;
  return error instanceof ApiError ? [error.message] : undefined;
}

/** Formats lines for the client's terminal. */
const shown = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => line.split('\n'))
    // oxlint-disable-next-line no-control-regex
    .map((line) => `-${line.replaceAll(/[\u0000-\u001F\u007F]/g, ' ')}\n`)
    .join('');

/** Answers the second hook, which uses git's own protocol: a version, then the result for each branch and tag. */
async function answerReceive(options: GateOptions, stream: HookStream, push: StoredPush): Promise<void> {
  if ((await readPktLines(stream)) === undefined) return;
  options.toHooks.write(pktLine('version=1\0') + flush);
  const commands = await readPktLines(stream);
  if (commands === undefined) return;
  const problem = await move(options, push);
  const answers = commands
    .map(parsePushedRef)
    .map(({ name }) => pktLine(problem === undefined ? `ok ${name}` : `ng ${name} ${problem}`));
  options.toHooks.write(answers.join('') + flush);
}

/** Moves the refs. Returns the reason when no ref was moved. */
async function move(
  { projectServices, audit, auditEvent, log, projectId }: GateOptions,
  push: StoredPush,
): Promise<string | undefined> {
  try {
    await withNote(audit.noteOf(auditEvent), () => moveRefs(projectServices.repositories, push));
    return undefined;
  } catch (error) {
    if (error instanceof PushRefused) return error.lines[0];
    log.error({ err: error, projectId }, 'a push could not be saved');
    return 'the service could not save it';
  }
}

/**
 * Stores the packs of a push for its change: the pack in quarantine, and a pack of the new objects `ids` that the first
 * pack lacks. A client omits objects that it has seen here in a branch that was deleted since.
 */
async function storePush(
  repositories: ProjectRepositories,
  { projectId, quarantinePath }: Push,
  ids: readonly string[],
): Promise<LoggedPack[]> {
  const packs: LoggedPack[] = [];
  const missing = new Set(ids);
  for (const file of await listPackFiles(quarantinePath)) {
    for (const id of listPacked(await readFile(indexOf(file)))) missing.delete(id);
    packs.push(await repositories.storePack(projectId, file));
  }
  if (missing.size === 0) return packs;
  const gitDir = repositories.gitDirOf(projectId);
  const environment = seenWith(gitDir, quarantinePath);
  const packing = { gitDir, environment, names: missing, isDeep: false };
  const store = (file: string): Promise<LoggedPack> => repositories.storePack(projectId, file);
  return [...packs, await packObjects(repositories.git, packing, store)];
}

/** Lists the packs in quarantine. A push that brings no objects has no quarantine. */
async function listPackFiles(quarantinePath: string): Promise<string[]> {
  const folder = path.join(quarantinePath, 'pack');
  try {
    if (quarantinePath === '') return [];
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith('.pack')).map((name) => path.join(folder, name));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

interface StoredPush extends Push {
  readonly main: NewMain | undefined;
  readonly packs: readonly LoggedPack[];
  /** First version of the log when the push was checked. */
  readonly firstVersion: number | undefined;
  /** Called in the transaction of the move. */
  readonly note: (transaction: Transaction) => Promise<void>;
}

/** Moves all branches and tags of a push, or none. Files and compiled files move with `main`. Throws `PushRefused`. */
function moveRefs(repositories: ProjectRepositories, push: StoredPush): Promise<void> {
  const { projectId, refs, main, packs, firstVersion, note } = push;
  const work = async (draft: Draft, change: Change): Promise<void> => {
    if ((await repositories.findFirstVersion(projectId)) !== firstVersion)
      throw new PushRefused('The repository was repacked during the push: push again.');
    const others = refs.filter(({ name }) => name !== mainBranch);
    for (const ref of others) await requireUnmoved(change, ref);
    requirePlaces(others, await repositories.listRefs(projectId));
    for (const ref of others) change.setRef(ref.name, isDeletion(ref) ? undefined : ref.after);
    if (main !== undefined) await moveMain(draft, change, main);
  };
  return repositories.write(projectId, work, { packs, firstVersion, note });
}

async function moveMain(draft: Draft, change: Change, main: NewMain): Promise<void> {
  await requireClean(draft, change.state, main);
  const { files, outputs, commit } = main;
  const compiled = storeCompiled(draft, outputs);
  keepCompiled(change, { files, compiled });
  change.save({ files, compiled, head: commit });
}

/** Throws `PushRefused` unless `main` is still at the commit that the push is based on, and everything is committed. */
async function requireClean(repository: GitObjects, state: SavedState, { before }: NewMain): Promise<void> {
  if ((state.head ?? noObject) !== before)
    throw new PushRefused('main has moved meanwhile: fetch it, and push again.');
  if (await isDirty(repository, state))
    throw new PushRefused(
      'The project has uncommitted changes, which this push would mix with yours.',
      'Commit them ("phalanx project commit") and fetch, or discard them by "phalanx project revert" to the newest commit.',
    );
}

async function requireUnmoved(change: Change, { name, before }: PushedRef): Promise<void> {
  if (((await change.findRef(name)) ?? noObject) === before) return;
  throw new PushRefused(`${name} has moved meanwhile: fetch it, and push again.`);
}

/** Throws `PushRefused` when a branch or tag would be a folder of others, which git can't store. */
function requirePlaces(pushed: readonly PushedRef[], known: readonly { name: string }[]): void {
  const gone = new Set(pushed.filter(isDeletion).map(({ name }) => name));
  const arriving = pushed.filter((ref) => !isDeletion(ref)).map(({ name }) => name);
  const names = new Set([...known.map(({ name }) => name), ...arriving, mainBranch]);
  for (const name of arriving)
    for (const folder of foldersOf(name))
      if (names.has(folder) && !gone.has(folder))
        throw new PushRefused(`${name} cannot be created, because ${folder} exists.`);
  const folders = new Set([...names].filter((name) => !gone.has(name)).flatMap(foldersOf));
  for (const name of arriving)
    if (folders.has(name))
      throw new PushRefused(`${name} cannot be created, because other branches or tags have names below it.`);
}
