import type { HookStream } from './git-exchange.ts';
import { parsePushedRef, type Push, type PushedRef, PushRefused } from './push-check.ts';

const maxRefs = 1000;

/**
 * Reads the request of the first hook: the quarantine folder, one line per ref, then an empty line. Undefined when git
 * closes the stream earlier. Throws `PushRefused` at the first excess ref, because git itself accepts millions.
 */
export async function readPush(stream: HookStream): Promise<Omit<Push, 'projectId'> | undefined> {
  const quarantinePath = await stream.takeLine();
  const refs: PushedRef[] = [];
  for (let line = await stream.takeLine(); line !== ''; line = await stream.takeLine()) {
    if (line === undefined) return undefined;
    if (refs.length === maxRefs)
      throw new PushRefused(`A push moves at most ${maxRefs} branches and tags: push in smaller steps.`);
    refs.push(parsePushedRef(line));
  }
  return quarantinePath === undefined ? undefined : { quarantinePath, refs };
}
