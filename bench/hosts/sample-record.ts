import { randomBytes } from 'node:crypto';
import type { CaptureKind, RecordReport, ScreenTree, UiNode } from '@phalanx/protocol';

export const screenCount = 50;
const nodeCount = 72;
const packageName = 'com.example.shop';
const pictureBytes = 40_000;

/** Returns a new UUIDv7. */
function recordId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = crypto.randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

export type SampleType = 'outOfSteps' | 'debug';

export const sampleRecord = (runId: string, type: SampleType = 'outOfSteps'): RecordReport => ({
  record_id: recordId(),
  run_id: runId,
  type,
  tag: type === 'debug' ? 'bench' : null,
  screens: Array.from({ length: screenCount }, (_, index) => ({
    screen_id: crypto.randomUUID(),
    next_stage: 'checkout',
    screen_state: 'unknown',
    max_steps: screenCount - index,
    timestamp: Date.now(),
    has_tree: true,
    screenshot: { width: 540, height: 1200, original_width: 1080, original_height: 2400 },
    screenshot_failed: false,
  })),
  is_cut_short: false,
});

const node = (index: number, name: string, children: UiNode[] = []): UiNode => ({
  className: 'android.widget.TextView',
  packageName,
  viewId: `${packageName}:id/${name}_${index}`,
  text: `Item ${index} of the list, "ready"`,
  description: null,
  hintText: null,
  tooltipText: null,
  paneTitle: null,
  containerTitle: null,
  index,
  maxTextLength: -1,
  inputType: '',
  boundsInScreen: { left: 0, top: 12 * index, right: 1080, bottom: 12 * index + 12 },
  isShowingHintText: false,
  checkable: false,
  checked: false,
  clickable: index % 3 === 0,
  enabled: true,
  focusable: false,
  focused: false,
  longClickable: false,
  password: false,
  scrollable: false,
  selected: false,
  visible: true,
  children,
});

/** Returns a tree of typical size. Each name gives a different screen. */
export function sampleTree(name: string): Buffer {
  const rows = Array.from({ length: nodeCount }, (_, index) => node(index, name));
  const tree: ScreenTree = {
    root: node(0, name, rows),
    packageName,
    rotation: 0,
    capturedAt: Date.now(),
    source: 'uiautomator2',
  };
  return Buffer.from(JSON.stringify(tree));
}

/** Captures: about 42 kB of tree, and a low-quality picture of 40 kB. */
export const sampleCaptures: Readonly<Record<CaptureKind, Buffer>> = {
  tree: sampleTree('item'),
  screenshot: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), randomBytes(pictureBytes)]),
};
