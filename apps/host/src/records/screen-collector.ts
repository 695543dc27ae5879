import { randomUUID } from 'node:crypto';

import {
  type AgentCallParams,
  type AgentCallResult,
  type Bounds,
  maxStageLength,
  type ScreenTree,
} from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { TakenPicture } from '../driver/taken-picture.ts';
import { hiddenBounds } from '../driver/tree/hidden-bounds.ts';
import { pause } from '../time/time-limit.ts';
import { createTokenBucket } from '../time/token-bucket.ts';
import { checkTree } from './check-tree.ts';
import type { KeptScreen } from './kept-screen.ts';
import { packTree, type PackedTree } from './pack-tree.ts';
import type { PhoneCamera, PictureQuality } from './phone-camera.ts';
import { PictureLane } from './picture-lane.ts';
import { RecentTrees } from './recent-trees.ts';
import type { RecordLimits } from './record-limits.ts';
import { type MemoryBudget, ScreenWindow } from './screen-window.ts';
import { cleanText } from './submit-order.ts';

/** An automation that stores screens faster than its phone takes pictures is held back so long before one is left out. */
const pictureRoomMs = 250;
/** The rest of a run's pictures in the phone's own form is encoded beside it. */
const maxRawPictures = 4;
/** Trees that user code sends are checked on the event loop: so many nodes a second, and so many at once. */
const nodesPerSecond = 20_000;
const burstNodes = 100_000;

export interface ScreenCollectorOptions {
  camera: PhoneCamera;
  budget: MemoryBudget;
  clock: ServiceClock;
  limits: RecordLimits;
}

interface TreeSource {
  /** Epoch milliseconds on the host's clock. */
  capturedAt: number;
  pack: () => Promise<PackedTree>;
  hidden: () => Bounds[];
  /** How long the sender waits for its answer. */
  waitMs: number;
}

/** The picture without what its tree says must not be seen; of a tree that never came nothing is known. */
async function covered(
  picture: Promise<TakenPicture | undefined>,
  hidden: Promise<readonly Bounds[]>,
): Promise<TakenPicture | undefined> {
  const [taken, bounds] = await Promise.all([picture, hidden]);
  taken?.cover(() => bounds);
  return taken;
}

/** The last screens of one run, with their trees and pictures. */
export class ScreenCollector {
  readonly #options: ScreenCollectorOptions;
  readonly #trees = new RecentTrees();
  readonly #window: ScreenWindow;
  readonly #lane = new PictureLane();
  readonly #takeNodes = createTokenBucket(nodesPerSecond, burstNodes);
  #count = 0;

  constructor(options: ScreenCollectorOptions) {
    this.#options = options;
    this.#window = new ScreenWindow(options.budget, options.limits);
  }

  /** Oldest first. */
  list(): readonly KeptScreen[] {
    return this.#window.list();
  }

  /** The tree with the ID by which it can be stored for a little while. */
  keepTree(tree: ScreenTree): ScreenTree {
    return { ...tree, treeId: this.#trees.keep(tree) };
  }

  /** Resolves before tree and picture are ready, so that the automation goes on at once. */
  async store(
    params: AgentCallParams<'record.screen'>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<'record.screen'>> {
    const tree = this.#treeOf(params);
    if (tree === undefined) return 'tree_unknown';
    const { stage, screenState, remainingSteps, screenshot } = params;
    const screen = this.#add({
      nextStage: cleanText(stage, maxStageLength),
      screenState: cleanText(screenState, maxStageLength),
      maxSteps: remainingSteps,
      timestamp: this.#options.clock.toService(tree.capturedAt),
      wantsPicture: screenshot !== 'none',
    });
    const begun = screenshot === 'none' ? Promise.resolve() : this.#lane.whenRoom(pictureRoomMs, signal);
    const taken = begun.then(() => (screenshot === 'none' ? undefined : this.#take(screenshot)));
    screen.settled = this.#fill(screen, tree.pack(), covered(taken, Promise.resolve(tree.hidden())));
    await Promise.all([begun, pause(tree.waitMs, signal)]);
    return 'stored';
  }

  /** Adds the screen as it is now, as far as the phone tells quickly: without tree and picture if it tells nothing. */
  async look(signal: AbortSignal): Promise<void> {
    const { camera, clock, limits } = this.#options;
    const last = this.list().at(-1);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.lastLookMs)]);
    const screen = this.#add({
      nextStage: last?.nextStage ?? '',
      screenState: 'unknown',
      maxSteps: last?.maxSteps ?? 0,
      timestamp: clock.now(),
      wantsPicture: true,
    });
    const tree = camera.readTree(limit);
    const hidden = tree.then(({ root }) => hiddenBounds(root)).catch(() => []);
    screen.settled = this.#fill(
      screen,
      tree.then((read) => packTree(read)),
      covered(camera.takePicture('low_quality', limit), hidden),
    );
    await screen.settled;
  }

  /** Resolves when all trees and pictures that were wanted have come or failed, or when the time for that is over. */
  async settle(): Promise<void> {
    const done = new AbortController();
    const late = pause(this.#options.limits.settleMs, done.signal);
    await Promise.race([Promise.all(this.list().map(({ settled }) => settled)), late]);
    done.abort();
  }

  clear(): void {
    this.#window.clear();
  }

  #add(about: Omit<KeptScreen, 'screenId' | 'number' | 'tree' | 'picture' | 'settled'>): KeptScreen {
    const number = (this.#count += 1);
    const later = { tree: undefined, picture: undefined, settled: Promise.resolve() };
    const screen = { ...about, ...later, screenId: randomUUID(), number };
    this.#window.add(screen);
    return screen;
  }

  /** Undefined when the tree of that ID is no longer here. */
  #treeOf({ treeId, root }: AgentCallParams<'record.screen'>): TreeSource | undefined {
    const now = Date.now();
    const known = treeId === undefined ? undefined : this.#trees.find(treeId);
    if (known !== undefined) return { ...known, waitMs: 0 };
    if (treeId !== undefined) return undefined;
    const checked = checkTree(root);
    if (checked === undefined)
      return { capturedAt: now, pack: async () => undefined, hidden: () => [], waitMs: 0 };
    const { packageName } = checked.root;
    const tree = { root: checked.root, packageName, rotation: 0, capturedAt: now, source: 'automation' };
    const waitMs = this.#takeNodes(checked.nodeCount);
    return { capturedAt: now, pack: () => packTree(tree), hidden: () => hiddenBounds(tree.root), waitMs };
  }

  #take(quality: PictureQuality): Promise<TakenPicture | undefined> {
    const { camera, limits } = this.#options;
    return this.#lane.take(() => camera.takePicture(quality, AbortSignal.timeout(limits.pictureMs)));
  }

  async #fill(
    screen: KeptScreen,
    tree: Promise<PackedTree>,
    picture: Promise<TakenPicture | undefined>,
  ): Promise<void> {
    const filling = [
      tree.then((packed) => void (screen.tree = packed)),
      picture.then((taken) => void (screen.picture = taken)),
    ];
    await Promise.all(
      filling.map((part) =>
        part.then(
          () => this.#window.measure(),
          () => {},
        ),
      ),
    );
    await this.#shrink();
  }

  /** Files as the phone made them are large: of more than a few, the oldest is made small at once. */
  async #shrink(): Promise<void> {
    const raw = this.list().filter(({ picture }) => picture?.isRaw === true);
    if (raw.length <= maxRawPictures) return;
    await raw[0]?.picture?.finish().catch(() => {});
    this.#window.measure();
  }
}
