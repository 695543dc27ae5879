import { randomUUID } from 'node:crypto';
import {
  type AgentCallName,
  type AgentCallParams,
  type AgentCallResult,
  maxRecordedCalls,
  maxRecordScreens,
  maxStageLength,
  type ScreenshotQuality,
  type ScreenTree,
  type UiNode,
} from '@phalanx/protocol';
import type { ServiceClock } from '../connection/service-clock.ts';
import type { TakenPicture } from '../driver/pictures/taken-picture.ts';
import { pause } from '../time/time-limit.ts';
import { TokenBucket } from '../time/token-bucket.ts';
import { CallNotes } from './call-notes.ts';
import { checkTree, packTree, type PackedTree } from './record-tree.ts';
import { type KeptScreen, type MemoryBudget, ScreenWindow } from './screen-window.ts';
import { type PhoneCamera, PictureQueue } from './phone-camera.ts';
import type { RecordLimits } from './record-limits.ts';
import { cleanText } from './outgoing/submit-order.ts';
import { SeenScreens } from './seen-screens.ts';

/**
 * Maximum delay in milliseconds of an automation that stores screens faster than its phone takes pictures. Then a
 * picture is skipped.
 */
const pictureRoomMs = 250;
/**
 * Maximum size in bytes of a run's pictures in the phone's large format. Beyond it, the oldest are encoded during the
 * run.
 */
const maxRawBytes = 4 * 1024 * 1024;
/** Maximum number of attempts for the last look at a screen that changes by itself. */
const maxLooks = 4;
/** Rate and burst of tree nodes that user code may send: they are validated on the event loop. */
const nodesPerSecond = 20_000;
const burstNodes = 100_000;

export interface ScreenCollectorOptions {
  camera: PhoneCamera;
  budget: MemoryBudget;
  clock: ServiceClock;
  limits: RecordLimits;
}

interface TreeSource {
  /** Time of the tree in epoch milliseconds on the host's clock. */
  capturedAt: number;
  pack: () => Promise<PackedTree>;
  /** ID by which the steps of the run refer to the screen. */
  screenId?: string | undefined;
  /** Root of the tree; undefined when there is no tree. */
  root: UiNode | undefined;
  /** Delay of the answer to the sender, in milliseconds. */
  waitMs: number;
}

/** Last screens of one run, with their trees and pictures. */
export class ScreenCollector {
  readonly #options: ScreenCollectorOptions;
  /** Screens that the automation has read, stored or not. */
  readonly seen = new SeenScreens();
  readonly #window: ScreenWindow;
  readonly #queue = new PictureQueue();
  readonly #notes = new CallNotes();
  readonly #nodes = new TokenBucket(nodesPerSecond, burstNodes);
  #count = 0;

  constructor(options: ScreenCollectorOptions) {
    this.#options = options;
    this.#window = new ScreenWindow(options.budget, options.limits);
  }

  /** Returns the stored screens, oldest first. */
  list(): readonly KeptScreen[] {
    return this.#window.list();
  }

  /** Returns the tree with the ID by which the automation can store it for a while. */
  keepTree(tree: ScreenTree): ScreenTree {
    const { camera } = this.#options;
    this.#notes.read(tree.root, camera.hiddenIn(tree.root));
    return { ...tree, treeId: this.seen.read(tree, camera.digestOf(tree.root)) };
  }

  /** Notes the begin of a call that may change the phone. */
  noteCall(name: AgentCallName, params: object): void {
    const note = this.#notes.note(name, params);
    const calls = this.list().at(-1)?.calls;
    if (note !== undefined && calls !== undefined && calls.length < maxRecordedCalls) calls.push(note);
  }

  /**
   * Stores a screen. Resolves before tree and picture are ready, so that the automation continues at once; its next
   * call that changes the screen waits until the picture is taken.
   */
  async store(
    params: AgentCallParams<'record.screen'>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<'record.screen'>> {
    const tree = this.#treeOf(params);
    if (tree === undefined) return 'tree_unknown';
    const { stage, screenState, remainingSteps, screenshot } = params;
    const screen = this.#add({
      screenId: this.#freeId(tree.screenId),
      nextStage: cleanText(stage, maxStageLength),
      screenState: cleanText(screenState, maxStageLength),
      maxSteps: remainingSteps,
      timestamp: this.#options.clock.toService(tree.capturedAt),
      wantsPicture: screenshot !== 'none',
      packageName: tree.root?.packageName,
    });
    const { begun, picture } = this.#photograph(tree.root, screenshot, signal);
    screen.settled = this.#fill(screen, tree.pack(), picture);
    await Promise.all([begun, pause(tree.waitMs, signal)]);
    return 'stored';
  }

  /** Adds the current screen, as far as the phone answers quickly: without tree and picture when it does not. */
  async look(signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#options;
    const last = this.list().at(-1);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.lastLookMs)]);
    const screen = this.#add({
      screenId: randomUUID(),
      nextStage: last?.nextStage ?? '',
      screenState: 'unknown',
      maxSteps: last?.maxSteps ?? 0,
      timestamp: clock.now(),
      wantsPicture: true,
      packageName: undefined,
    });
    screen.settled = this.#lookUntilStill(screen, limit).catch(() => {});
    await screen.settled;
  }

  /** Resolves when all requested trees and pictures have arrived or failed, or when the timeout is over. */
  async settle(): Promise<void> {
    const done = new AbortController();
    const late = pause(this.#options.limits.settleMs, done.signal);
    await Promise.race([Promise.all(this.list().map(({ settled }) => settled)), late]);
    done.abort();
  }

  clear(): void {
    this.seen.clear();
    this.#window.clear();
  }

  /**
   * Returns the ID by which steps refer to the screen, or a new one when a stored screen already has it: the same
   * screen may be stored twice.
   */
  #freeId(screenId: string | undefined, itself?: KeptScreen): string {
    const isTaken = this.list().some((screen) => screen !== itself && screen.screenId === screenId);
    return screenId === undefined || isTaken ? randomUUID() : screenId;
  }

  /**
   * Returns the stored screens and, between them, the other screens of the last steps, oldest first. A screen that was
   * not stored gets the stage of the stored screen before it.
   */
  async listWithSeen(): Promise<KeptScreen[]> {
    const { clock } = this.#options;
    const stored = this.list();
    const others = this.seen
      .list()
      .filter(({ screenId }) => !stored.some((one) => one.screenId === screenId));
    const seen = others.map(async ({ screenId, capturedAt, packageName, pack }): Promise<KeptScreen> => {
      const timestamp = clock.toService(capturedAt);
      const before = stored.findLast((one) => one.timestamp <= timestamp);
      return {
        screenId,
        timestamp,
        number: before?.number ?? 0,
        tree: await pack(),
        picture: undefined,
        nextStage: before?.nextStage ?? '',
        screenState: 'unknown',
        maxSteps: before?.maxSteps ?? 0,
        wantsPicture: false,
        settled: Promise.resolve(),
        packageName,
        calls: [],
      };
    });
    const all = [...(await Promise.all(seen)), ...stored];
    return all.toSorted((one, other) => one.timestamp - other.timestamp).slice(-maxRecordScreens);
  }

  #add(about: Omit<KeptScreen, 'number' | 'tree' | 'picture' | 'settled' | 'calls'>): KeptScreen {
    const number = (this.#count += 1);
    const later = { tree: undefined, picture: undefined, settled: Promise.resolve(), calls: [] };
    const screen = { ...about, ...later, number };
    this.#window.add(screen);
    return screen;
  }

  /** Returns the tree to store; undefined when the tree with that ID is no longer cached. */
  #treeOf({ treeId, root }: AgentCallParams<'record.screen'>): TreeSource | undefined {
    const now = Date.now();
    const known = treeId === undefined ? undefined : this.seen.find(treeId);
    if (known !== undefined) {
      const { capturedAt, root: knownRoot, screen } = known;
      return { capturedAt, root: knownRoot, screenId: screen.screenId, pack: screen.pack, waitMs: 0 };
    }
    if (treeId !== undefined) return undefined;
    const checked = checkTree(root);
    if (checked === undefined)
      return { capturedAt: now, pack: async () => undefined, root: undefined, waitMs: 0 };
    const { packageName } = checked.root;
    const tree = { root: checked.root, packageName, rotation: 0, capturedAt: now, source: 'automation' };
    const waitMs = this.#nodes.take(checked.nodeCount);
    return { capturedAt: now, pack: () => packTree(tree), root: tree.root, waitMs };
  }

  /** Takes a picture of the screen. `begun` resolves when another picture may be requested. */
  #photograph(
    root: UiNode | undefined,
    quality: ScreenshotQuality,
    signal: AbortSignal,
  ): { begun: Promise<void>; picture: Promise<TakenPicture | undefined> } {
    if (quality === 'none') return { begun: Promise.resolve(), picture: Promise.resolve(undefined) };
    const { camera, limits } = this.#options;
    const letGo = camera.holdScreen();
    const take = (): Promise<TakenPicture | undefined> =>
      camera.takePictureOf({
        root,
        quality,
        signal: AbortSignal.timeout(limits.pictureMs),
        onTaken: letGo,
      });
    const begun = this.#queue.whenRoom(pictureRoomMs, signal);
    return { begun, picture: begun.then(() => this.#queue.take(take)).finally(letGo) };
  }

  async #lookUntilStill(screen: KeptScreen, signal: AbortSignal): Promise<void> {
    const { camera } = this.#options;
    for (let looks = 1; looks <= maxLooks && screen.picture === undefined; looks += 1) {
      const tree = await camera.readTree(signal);
      const { root, packageName } = tree;
      const seen = this.seen.see(tree, camera.digestOf(root));
      screen.screenId = this.#freeId(seen.screenId, screen);
      screen.packageName = packageName;
      const letGo = camera.holdScreen();
      const picture = camera.takePictureOf({ root, quality: 'low_quality', signal, onTaken: letGo });
      await this.#fill(screen, seen.pack(), picture.finally(letGo));
      // Waits for the result: a refused picture would be refused again.
      await picture;
    }
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

  /** Encodes the oldest large pictures until the rest fits into the limit. */
  async #shrink(): Promise<void> {
    for (;;) {
      const raw = this.list().flatMap(({ picture }) => (picture?.isRaw === true ? [picture] : []));
      const rawBytes = raw.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      if (rawBytes <= maxRawBytes) return;
      await raw[0]?.finish().catch(() => {});
      this.#window.measure();
    }
  }
}
