import { createHash } from 'node:crypto';
import { isUnknownState, type NearestState } from '@phalanx/protocol';
import { LRUCache } from 'lru-cache';
import type { PrintReader } from '../groups/prints/print-process.ts';
import type { ScreenPrint } from '../groups/prints/screen-print.ts';

/** Golden screen in the saved code of a project. */
export interface GoldenTree {
  path: string;
  /** Expected state; undefined when the code may assign any state. */
  state: string | undefined;
  /** JSON of its `ScreenTree`. */
  json: string;
}

/** Creates the reader of prints of golden screens. It caches prints, because golden screens rarely change. */
export function createGoldenPrints(
  reader: Pick<PrintReader, 'read'>,
): (golden: readonly GoldenTree[]) => Promise<KnownScreen[]> {
  const known = new LRUCache<string, { print: ScreenPrint | undefined }>({ max: 1000 });
  const printOf = async (json: string): Promise<ScreenPrint | undefined> => {
    const hash = createHash('sha256').update(json).digest('base64');
    const found = known.get(hash);
    if (found !== undefined) return found.print;
    const reply = await reader.read(Buffer.from(json));
    const print = 'print' in reply ? reply.print : undefined;
    known.set(hash, { print });
    return print;
  };
  return async (golden) => {
    const screens: KnownScreen[] = [];
    for (const { path: name, state = '', json } of golden) {
      const print = state === '' || isUnknownState(state) ? undefined : await printOf(json);
      if (print !== undefined) screens.push({ kind: 'golden', name, state, print });
    }
    return screens;
  };
}

/** Screen whose state is known. */
export interface KnownScreen extends Pick<NearestState, 'kind' | 'name' | 'state'> {
  print: ScreenPrint;
}
