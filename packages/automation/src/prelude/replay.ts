/** Prelude of a replay: the same globals, with a clock that the child advances and deterministic random numbers. */
import { createAndroidNode, type NodeTouch } from '../agent/nodes/android-node.ts';
import { install as installPrelude } from './install.ts';
import { disconnectEngine } from './node/engine-look.ts';
import { orderJson, type ReplayPort } from './port.ts';

/** Installs the prelude. Returns the function by which the child enters the isolate. */
export function install(port: ReplayPort): ReturnType<typeof installPrelude>['enter'] {
  const { ask } = port;
  repeatTime(() => Math.trunc(port.capturedAt() + Number(ask('now', orderJson({})))));
  repeatRandom();
  const { missed } = port;
  if (missed !== undefined) reportMissed(missed);
  const block = {
    applySyncPromise: (_: undefined, [name = '', ...texts]: string[]) => {
      if (port.hold(name, ...texts)) throw new Error('The run has ended.');
    },
  };
  const { enter } = installPrelude({ ask, block }, { findStage: () => port.stage() });
  disconnectEngine();
  return enter;
}

function repeatTime(now: () => number): void {
  const EngineDate = Date;
  EngineDate.now = now;
  const Replayed = new Proxy(EngineDate, {
    apply: () => new EngineDate(now()).toString(),
    construct: (target, args: unknown[], newTarget) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a constructor gives is an object
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
  });
  EngineDate.prototype.constructor = Replayed;
  globalThis.Date = Replayed;
}

/** Replaces `Math.random` with Mulberry32, seeded with a constant. */
function repeatRandom(): void {
  let seed = 0x9e_37_79_b9;
  Math.random = () => {
    seed = (seed + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const noTouch: NodeTouch = {
  tap: async () => {},
  doubleTap: async () => {},
  longPress: async () => {},
  writeText: async () => {},
  clearText: async () => {},
};

/** Makes each method that searches nodes report a search without result. */
function reportMissed(missed: NonNullable<ReplayPort['missed']>): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the prototype that all nodes share
  const nodes = Object.getPrototypeOf(createAndroidNode(emptyNode, noTouch)) as Searches;
  const watch = (name: keyof Searches, by: Parameters<typeof missed>[0]): void => {
    const search = nodes[name];
    nodes[name] = function watched(this: unknown, wanted: unknown) {
      const found = Reflect.apply(search, this, [wanted]);
      if (found === null || (Array.isArray(found) && found.length === 0)) missed(by, wordsOf(wanted));
      return found;
    };
  };
  watch('findById', 'id');
  watch('findAllById', 'id');
  watch('findTextOne', 'text');
  watch('findText', 'text');
  watch('filterOne', 'conditions');
  watch('filterAdvanced', 'conditions');
}

type Searches = Record<
  'findById' | 'findAllById' | 'findTextOne' | 'findText' | 'filterOne' | 'filterAdvanced',
  (wanted: unknown) => unknown
>;

const maxWordsLength = 200;

function wordsOf(wanted: unknown): string {
  const isPlain = typeof wanted === 'object' && wanted !== null && !(wanted instanceof RegExp);
  // oxlint-disable-next-line typescript/no-base-to-string -- no plain object comes here
  if (!isPlain) return String(wanted).slice(0, maxWordsLength);
  const words = entries(wanted).map(([name, value]) => `${name}: ${String(value)}`);
  return words.join(', ').slice(0, maxWordsLength);
}

const { entries } = Object;

const emptyNode: Parameters<typeof createAndroidNode>[0] = {
  className: null,
  packageName: '',
  viewId: null,
  text: null,
  description: null,
  hintText: null,
  tooltipText: null,
  paneTitle: null,
  containerTitle: null,
  index: 0,
  boundsInScreen: { left: 0, top: 0, right: 0, bottom: 0 },
  maxTextLength: -1,
  inputType: '',
  isShowingHintText: false,
  checkable: false,
  checked: false,
  clickable: false,
  enabled: true,
  focusable: false,
  focused: false,
  longClickable: false,
  password: false,
  scrollable: false,
  selected: false,
  visible: true,
  children: [],
};
