import { randomBytes } from 'node:crypto';
import type { CaptureKind, RecordReport } from '@phalanx/protocol';

export const screenCount = 50;
const nodeCount = 120;
const pictureBytes = 40_000;

/** UUIDv7 of now. */
function recordId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = crypto.randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

export const sampleRecord = (runId: string): RecordReport => ({
  record_id: recordId(),
  run_id: runId,
  type: 'outOfSteps',
  tag: null,
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

const node = (index: number) => ({
  className: 'android.widget.TextView',
  text: `Item ${index} of the list, "ready"`,
  contentDescription: null,
  viewIdResourceName: `com.example.shop:id/item_${index}`,
  bounds: { left: 0, top: 12 * index, right: 1080, bottom: 12 * index + 12 },
  isClickable: index % 3 === 0,
  isEnabled: true,
  isVisibleToUser: true,
  children: [],
});

/** As large as those of a usual screen: about 30 kB of tree, 40 kB of picture of low quality. */
export const sampleCaptures: Readonly<Record<CaptureKind, Buffer>> = {
  tree: Buffer.from(
    JSON.stringify({ ...node(0), children: Array.from({ length: nodeCount }, (_, index) => node(index)) }),
  ),
  screenshot: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), randomBytes(pictureBytes)]),
};
