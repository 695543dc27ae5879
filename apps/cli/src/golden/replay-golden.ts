import { isDeepStrictEqual } from 'node:util';
import { openReplays, type ReplayCode, type ReplayedScreen, type Replays } from '@phalanx/host/replays';
import type { GoldenRun, GoldenScreen, ReplayScreen, SequenceResult } from '@phalanx/protocol';

import { judge } from './judge.ts';
import { bundleMain, bundleRecogniser, type LocalProject } from './project-code.ts';

/** Replays golden screens with the code of a project's folder. */
export class GoldenReplay {
  readonly #replays: Replays;
  readonly #project: LocalProject;
  readonly #recogniser: ReplayCode | undefined;
  #main: ReplayCode | undefined;

  private constructor(replays: Replays, project: LocalProject, recogniser: ReplayCode | undefined) {
    this.#replays = replays;
    this.#project = project;
    this.#recogniser = recogniser;
  }

  /** Throws a CommandError for code that does not compile. */
  static async open(project: LocalProject): Promise<GoldenReplay> {
    const [replays, recogniser] = await Promise.all([openReplays(), bundleRecogniser(project)]);
    return new GoldenReplay(replays, project, recogniser);
  }

  /** Whether `screens/recognise.ts` is asked, which knows of no stages. */
  get hasRecogniser(): boolean {
    return this.#recogniser !== undefined;
  }

  /** In the order of the screens. `tellsMissed`: with the searches that found nothing. */
  async replay(screens: readonly GoldenScreen[], tellsMissed = false): Promise<ReplayedScreen[]> {
    const isForMain = screens.map(({ expect }) => this.#recogniser === undefined || needsMain(expect));
    const [byMain, byRecogniser] = await Promise.all([
      this.#replayWith(
        screens.filter((_, index) => isForMain[index]),
        tellsMissed,
        () => this.#bundleMain(),
      ),
      this.#replayWith(
        screens.filter((_, index) => !isForMain[index]),
        tellsMissed,
        async () => this.#recogniser,
      ),
    ]);
    return isForMain.flatMap((isMain) => (isMain ? byMain : byRecogniser).splice(0, 1));
  }

  /** Whether the code does with the screens of a run what the file tells. */
  async follow({ screens, ends }: GoldenRun): Promise<SequenceResult> {
    const saved = screens.map(({ tree, ...screen }) => ({ ...screen, treeJson: JSON.stringify(tree) }));
    return this.#replays.follow(await this.#bundleMain(), { screens: saved, ends });
  }

  async #bundleMain(): Promise<ReplayCode> {
    return (this.#main ??= await bundleMain(this.#project));
  }

  async #replayWith(
    screens: readonly GoldenScreen[],
    tellsMissed: boolean,
    codeOf: () => Promise<ReplayCode | undefined>,
  ): Promise<ReplayedScreen[]> {
    const code = screens.length === 0 ? undefined : await codeOf();
    if (code === undefined) return [];
    const strict = async (chosen: readonly GoldenScreen[]): Promise<ReplayedScreen[]> => {
      const replayed = await this.#replays.replay(code, chosen.map(savedOf), { mode: 'strict', tellsMissed });
      return replayed.map((one) => one ?? nothing);
    };
    if (screens.length <= maxStrict) return strict(screens);
    const streamed = await this.#replays.replay(code, screens.map(savedOf), { mode: 'stream' });
    return (await confirmed(screens, streamed, strict)) ?? strict(screens);
  }
}

/** Of so many screens each gets a run of its own; more are shown to one run first. */
const maxStrict = 200;
const sampleEvery = 100;

/**
 * Verdicts of a stream, where those that are not as expected, and a sample of the others, were replayed alone. Undefined
 * when the sample comes out otherwise: the code remembers what it was shown before.
 */
async function confirmed(
  screens: readonly GoldenScreen[],
  streamed: readonly (ReplayedScreen | undefined)[],
  strict: (chosen: readonly GoldenScreen[]) => Promise<ReplayedScreen[]>,
): Promise<ReplayedScreen[] | undefined> {
  const doubtful = screens.map((golden, index) => {
    const told = streamed[index];
    return index % sampleEvery === 0 || told === undefined || judge(golden, told) !== undefined;
  });
  const again = await strict(screens.filter((_, index) => doubtful[index]));
  const all = screens.map((_, index) => (doubtful[index] ? again.shift() : streamed[index]) ?? nothing);
  const isStable = streamed.every(
    (told, index) =>
      index % sampleEvery !== 0 || told === undefined || isDeepStrictEqual(told.verdict, all[index]?.verdict),
  );
  return isStable ? all : undefined;
}

const savedOf = ({ tree, expect }: GoldenScreen): ReplayScreen => ({
  treeJson: JSON.stringify(tree),
  stage: expect.stage,
});

/** What a function that only recognises can't tell. */
const needsMain = ({ stage, handled }: GoldenScreen['expect']): boolean =>
  stage !== undefined || handled !== undefined;

const nothing: ReplayedScreen = { verdict: { kind: 'ended', did: [] }, missed: [] };
