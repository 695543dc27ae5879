import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';

import { findFault } from '../faults/fault.ts';
import { ApiError } from '../http/api-error.ts';
import type { Deed, DeedLog } from '../http/deed.ts';
import { noObject, type GitRepository } from '../git/git-repository.ts';
import { storeCompiled } from '../projects/compile-tree.ts';
import { keepCompiled } from '../projects/compiled-trees.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
import { isDirty, publishHead, readSavedState, swapSavedState } from '../projects/saved-state.ts';
import { HookStream } from './hook-stream.ts';
import { flush, pktLine, readPktLines } from './pkt-line.ts';
import { checkPush, PushRefused, type NewMain } from './push-check.ts';
import { mainBranch, parsePushedRef } from './push-refs.ts';

interface GateOptions {
  desk: ProjectDesk;
  audit: DeedLog;
  log: Logger;
  deed: Deed;
  projectId: string;
  /** What the hooks of this push say, and where they listen. */
  fromHooks: Readable;
  toHooks: Writable;
}

/** The answer of the first hook for a push that may happen. */
const accepted = 'accepted\n';

/**
 * Decides about one push through git's hooks. From the acceptance of a new `main` until it is in place, the
 * project's lock is held, so that no write comes between. Resolves when git has hung up or has its answers.
 */
export async function guardPush(options: GateOptions): Promise<void> {
  const { toHooks, projectId, desk, audit, deed } = options;
  const stream = new HookStream(options.fromHooks);
  let release: (() => void) | undefined;
  try {
    const push = await readPush(stream);
    if (push === undefined) return;
    const main = await checkPush(desk, { projectId, ...push });
    const refs = push.refs.slice(0, 10).map(({ name, after }) => ({ name, after }));
    deed.add({ refs, ref_count: push.refs.length });
    if (main !== undefined) {
      release = await desk.repositories.lock(projectId);
      await desk.repositories.read(projectId, (repository) => requireClean(repository, main));
    }
    toHooks.write(shown((main?.warnings ?? []).map((line) => `warning: ${line}`)));
    // Git moves the other branches by itself.
    if (main === undefined) await audit.done(deed);
    toHooks.write(accepted);
    if (main !== undefined) await answerReceive(options, stream, main);
  } catch (error) {
    toHooks.write(refusal(options, error));
  } finally {
    release?.();
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

/** What there are words for. */
function linesOf(error: unknown): readonly string[] | undefined {
  if (error instanceof PushRefused) return error.lines;
  return error instanceof ApiError ? [error.message] : undefined;
}

/** For the client's terminal. */
const shown = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => line.split('\n'))
    // oxlint-disable-next-line no-control-regex
    .map((line) => `-${line.replaceAll(/[\u0000-\u001F\u007F]/g, ' ')}\n`)
    .join('');

async function readPush(
  stream: HookStream,
): Promise<{ quarantinePath: string; refs: ReturnType<typeof parsePushedRef>[] } | undefined> {
  const quarantinePath = await stream.takeLine();
  const refs = [];
  for (let line = await stream.takeLine(); line !== ''; line = await stream.takeLine()) {
    if (line === undefined) return undefined;
    refs.push(parsePushedRef(line));
  }
  return quarantinePath === undefined ? undefined : { quarantinePath, refs };
}

async function requireClean(repository: GitRepository, main: NewMain): Promise<void> {
  const state = await readSavedState(repository);
  if ((state.head ?? noObject) !== main.before)
    throw new PushRefused('main has moved meanwhile: fetch it, and push again.');
  if (await isDirty(repository, state))
    throw new PushRefused(
      'The project has uncommitted changes, which this push would mix with yours.',
      'Commit them ("phalanx project commit") and fetch, or discard them by "phalanx project revert" to the newest commit.',
    );
}

/** The second hook speaks git's own protocol: a version, then the branches that it may move. */
async function answerReceive(options: GateOptions, stream: HookStream, main: NewMain): Promise<void> {
  if ((await readPktLines(stream)) === undefined) return;
  options.toHooks.write(pktLine('version=1\0') + flush);
  const commands = await readPktLines(stream);
  if (commands === undefined) return;
  let answer = '';
  for (const { name } of commands.map(parsePushedRef))
    answer += pktLine(name === mainBranch ? await moveMain(options, main) : `ng ${name} main is no folder`);
  options.toHooks.write(answer + flush);
}

async function moveMain({ desk, audit, deed, log, projectId }: GateOptions, main: NewMain): Promise<string> {
  try {
    await desk.repositories.read(projectId, (repository) => takeOver(repository, main));
    await audit.done(deed);
    return `ok ${mainBranch}`;
  } catch (error) {
    log.error({ err: error, projectId }, 'a push could not be saved');
    return `ng ${mainBranch} the service could not save it`;
  }
}

async function takeOver(repository: GitRepository, { files, outputs, commit }: NewMain): Promise<void> {
  const state = await readSavedState(repository);
  const compiled = await storeCompiled(repository, state.compiled, outputs);
  await keepCompiled(repository, { files, compiled });
  await swapSavedState(repository, state, { files, compiled, head: commit });
  await publishHead(repository);
}
