import type { UiNode } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import { pause } from '../../time/time-limit.ts';
import type { HelperRenewal, Renewals } from '../renewals.ts';
import { parseRoots } from '../tree/parse-tree.ts';
import type { ToldText } from '../tree/xml-screen.ts';
import type { HelperSession } from './helper-session.ts';

const windowsMs = 2000;
const restoreMs = 5000;

/** As the helper writes one without children. */
const emptyWebPage = /<android\.webkit\.WebView(?:\s+[\w:.-]+="[^"]*")*\s*\/>/;

interface TreeReading {
  readonly session: Pick<HelperSession, 'getText' | 'listWindows' | 'post'>;
  readonly renewals: Renewals;
  /** A dark screen has no tree, whoever asks. */
  readonly isAwake: (signal: AbortSignal) => Promise<boolean>;
  /** Told when the helper has to be started anew. */
  readonly onRenewal: (renewal: HelperRenewal) => void;
}

/** Reads trees within their limit, and has the helper renewed when it no longer gets what is on the screen. */
interface TreeReader {
  readActive(signal: AbortSignal, known?: ToldText): Promise<ToldText>;
  readAll(signal: AbortSignal): Promise<UiNode[]>;
}

export function createTreeReader({ session, renewals, isAwake, onRenewal }: TreeReading): TreeReader {
  const { webPageMs } = renewals.timeouts;
  let emptySince: number | undefined;
  const renew = (why: string): void => {
    const renewal = renewals.begin(why);
    if (renewal === undefined) return;
    onRenewal(renewal);
    throw renewal;
  };
  const explainMissing = async (limitMs: number, signal: AbortSignal): Promise<DriverError> => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(windowsMs)]);
    if (!(await isAwake(limited)))
      return new DriverError('screen_not_readable', "The screen can't be read while it is off.");
    const windows = [...new Set(await session.listWindows(limited))].join(', ');
    renew(`The screen had no tree for ${limitMs / 1000} s, although these windows are there: ${windows}.`);
    return new DriverError(
      'screen_not_readable',
      `The screen gave no tree in ${limitMs / 1000} s, although these windows are there: ${windows}. A video or an animation may keep its app busy.`,
    );
  };
  /** The helper looks on for up to ten seconds, and reads no other tree before; all other calls it takes. */
  const readInTime = async (signal: AbortSignal, known?: ToldText): Promise<ToldText> => {
    const limitMs = renewals.treeMs;
    const reading = session.getText('source', signal, known);
    const over = new AbortController();
    const first = await Promise.race([reading, pause(limitMs, over.signal)]).finally(() => over.abort());
    if (first !== undefined) return first;
    reading.then(
      () => renewals.noteSlowTree(),
      () => {},
    );
    throw await explainMissing(limitMs, signal);
  };
  const checkWebPages = ({ text }: ToldText): void => {
    if (!text.includes('<android.webkit.WebView') || !emptyWebPage.test(text)) {
      emptySince = undefined;
      return;
    }
    emptySince ??= performance.now();
    if (performance.now() - emptySince >= webPageMs)
      renew(`A web page on the screen had no nodes for ${webPageMs / 1000} s.`);
  };
  const setAllWindows = (enableMultiWindows: boolean, signal: AbortSignal): Promise<unknown> =>
    session.post('appium/settings', { settings: { enableMultiWindows } }, signal);
  return {
    async readActive(signal, known) {
      const told = await readInTime(signal, known);
      checkWebPages(told);
      return told;
    },
    /** The helper reads the active window alone, which is faster, but for this. */
    async readAll(signal) {
      try {
        await setAllWindows(true, signal);
        return parseRoots((await readInTime(signal)).text);
      } finally {
        // Also when the caller has gone: what is read next would have all windows in it.
        await setAllWindows(false, AbortSignal.timeout(restoreMs));
      }
    },
  };
}
