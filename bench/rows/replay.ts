/**
 * Compares 10,000 saved screens of 42 KB shown to an automation with a state for each tenth of them, by two
 * processes, with one process that only parses the trees.
 *
 * `replay-stream` shows the screens one by one to a single run, `replay-strict` restarts the code for each. Both
 * yield a verdict for all but a few, and the row fails if two replays differ.
 */
import { isDeepStrictEqual } from 'node:util';
import { openReplays, type ReplayCode } from '@phalanx/host/replays';
import type { ReplayScreen, UiNode } from '@phalanx/protocol';

import { bundleSample } from '../harness/bundle-sample.ts';
import type { Row, RowResult } from '../harness/row.ts';

const screenCount = 10_000;
const nodeCount = 75;
const stateCount = 10;

const code = `
const ids = Array.from({ length: ${stateCount - 1} }, (_, index) => [\`State\${index}\`, { id: \`screen_\${index}\` }]);
await runStages({
  states: Object.fromEntries(ids),
  stages: [{ name: 'on', reached: 'never', on: Object.fromEntries(ids.map(([name]) => [name, (screen) => screen.tap?.()])) }],
});`;

export const replayStream = rowOf('stream', 20);
export const replayStrict = rowOf('strict', 60);

function rowOf(mode: 'stream' | 'strict', maxSeconds: number): Row {
  return {
    name: `replay-${mode}`,
    title: `10,000 saved screens are replayed (${mode}), s`,
    against: 'a loop that parses their trees',
    async measure(): Promise<RowResult> {
      const replays = await openReplays({ processes: 2 });
      const screens = Array.from({ length: screenCount }, (_, index) => screenOf(index));
      const bundled: ReplayCode = {
        ...(await bundleSample(code)),
        arguments: { automationParameters: {}, jobVariables: {} },
      };
      const replay = () => replays.replay(bundled, screens, { mode });
      const first = await timed(replay);
      const second = await timed(replay);
      const baseline = await timed(async () => screens.map(({ treeJson }): unknown => JSON.parse(treeJson)));
      const told = first.result.filter((one) => one !== undefined).length;
      if (!isDeepStrictEqual(first.result, second.result)) throw new Error('two replays differ');
      return {
        figure: Math.min(first.seconds, second.seconds),
        baseline: baseline.seconds,
        unit: 's',
        targets: [{ of: 'figure', bound: 'at most', value: maxSeconds }],
        notes: [
          `${told} of ${screenCount} screens have a verdict; a tree has ${screens[0]?.treeJson.length} characters`,
        ],
      };
    },
  };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const startedAt = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - startedAt) / 1000 };
}

function screenOf(index: number): ReplayScreen {
  const nodes = Array.from({ length: nodeCount }, (_, at) => nodeOf(`item_${at}`, `Item ${at} of ${index}`));
  const state = nodeOf(`screen_${index % stateCount}`, 'Title');
  const root = { ...nodeOf('content', ''), children: [state, ...nodes] };
  const tree = { root, packageName: 'com.shop', rotation: 0, capturedAt: 1.75e12, source: 'uiautomator2' };
  return { treeJson: JSON.stringify(tree) };
}

const nodeOf = (id: string, text: string): UiNode => ({
  className: 'android.widget.TextView',
  packageName: 'com.shop',
  viewId: `com.shop:id/${id}`,
  text,
  description: null,
  hintText: null,
  tooltipText: null,
  paneTitle: null,
  containerTitle: null,
  index: 0,
  boundsInScreen: { left: 0, top: 0, right: 1080, bottom: 2400 },
  maxTextLength: -1,
  inputType: '',
  isShowingHintText: false,
  checkable: false,
  checked: false,
  clickable: true,
  enabled: true,
  focusable: true,
  focused: false,
  longClickable: false,
  password: false,
  scrollable: false,
  selected: false,
  visible: true,
  children: [],
});
