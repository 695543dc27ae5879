import type { Readable, Writable } from 'node:stream';
import type { Logger } from 'pino';

import { findFault } from '../faults/fault.ts';
import { ApiError } from '../http/api-error.ts';
import type { Deed, DeedLog } from '../http/deed.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
import { HookStream } from './hook-stream.ts';
import { moveRefs, requireClean, type StoredPush } from './move-refs.ts';
import { flush, pktLine, readPktLines } from './pkt-line.ts';
import { checkPush, PushRefused, type Push } from './push-check.ts';
import { parsePushedRef } from './push-refs.ts';
import { storePush } from './store-push.ts';

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

/** Decides about one push through git's hooks. Resolves when git has hung up or has its answers. */
export async function guardPush(options: GateOptions): Promise<void> {
  const { toHooks, projectId, desk, deed } = options;
  const { repositories } = desk;
  const stream = new HookStream(options.fromHooks);
  let stored: StoredPush | undefined;
  try {
    const read = await readPush(stream);
    if (read === undefined) return;
    const push = { projectId, ...read };
    const firstVersion = await repositories.findFirstVersion(projectId);
    const { main, ids } = await checkPush(desk, push);
    const refs = push.refs.slice(0, 10).map(({ name, after }) => ({ name, after }));
    deed.add({ refs, ref_count: push.refs.length });
    if (main !== undefined)
      await repositories.read(projectId, (repository, state) => requireClean(repository, state, main));
    stored = { ...push, main, firstVersion, packs: await storePush(repositories, push, ids) };
    toHooks.write(shown((main?.warnings ?? []).map((line) => `warning: ${line}`)));
    toHooks.write(accepted);
    await answerReceive(options, stream, stored);
  } catch (error) {
    toHooks.write(refusal(options, error));
  } finally {
    // Those that a change has taken are no strays.
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

async function readPush(stream: HookStream): Promise<Omit<Push, 'projectId'> | undefined> {
  const quarantinePath = await stream.takeLine();
  const refs = [];
  for (let line = await stream.takeLine(); line !== ''; line = await stream.takeLine()) {
    if (line === undefined) return undefined;
    refs.push(parsePushedRef(line));
  }
  return quarantinePath === undefined ? undefined : { quarantinePath, refs };
}

/** The second hook speaks git's own protocol: a version, then the branches and tags that it may move. */
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

/** Returns why nothing was moved. */
async function move(
  { desk, audit, deed, log, projectId }: GateOptions,
  push: StoredPush,
): Promise<string | undefined> {
  try {
    await moveRefs(desk.repositories, push);
    await audit.done(deed);
    return undefined;
  } catch (error) {
    if (error instanceof PushRefused) return error.lines[0];
    log.error({ err: error, projectId }, 'a push could not be saved');
    return 'the service could not save it';
  }
}
