import { isDeepStrictEqual } from 'node:util';
import { openReplays, type ReplayCode, type ReplayedScreen, type Replays } from '@phalanx/host/replays';
import {
  type GoldenRun,
  type GoldenScreen,
  type ReplayScreen,
  findSchemaProblem,
  type SequenceResult,
  ReplayFetches,
  replayFetchesPath,
} from '@phalanx/protocol';
import { bundle } from '@phalanx/server/bundle';
import { readProjectSettings, settingsPath } from '@phalanx/server/project-settings';
import { Compile } from 'typebox/compile';

import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { readLocalFile, textOf } from '../project/local-files.ts';
import { judge } from './judge.ts';

/** Files whose function returns the state of a screen, for code that stores no screens. */
const recogniserPaths = ['screens/recognise.ts', 'screens/recognise.js'];
const schemaPath = 'parameters.schema.json';
const fetches = Compile(ReplayFetches);

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

  /** Bundles the code. Throws a CommandError if it does not compile. */
  static async open(project: LocalProject): Promise<GoldenReplay> {
    const [replays, recogniser] = await Promise.all([openReplays(), bundleRecogniser(project)]);
    return new GoldenReplay(replays, project, recogniser);
  }

  /** Whether the folder has a `screens/recognise.ts`, which knows no stages. */
  get hasRecogniser(): boolean {
    return this.#recogniser !== undefined;
  }

  /** Replays the screens, and returns results in order. `tellsMissed` adds the searches that found nothing. */
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

  /** Replays a golden run in order, and returns whether the code behaves as in the file. */
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

/** Maximum number of screens that get a run each; more are shown to one run first. */
const maxStrict = 200;
const sampleEvery = 100;

/**
 * Confirms the verdicts of a stream: replays unexpected ones, and a sample of the others, in runs of their own. Returns
 * undefined if the sample differs, because the code then remembers earlier screens.
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

/** Whether an expectation needs more than a function that only recognises screens. */
const needsMain = ({ stage, handled }: GoldenScreen['expect']): boolean =>
  stage !== undefined || handled !== undefined;

const nothing: ReplayedScreen = { verdict: { kind: 'ended', did: [] }, missed: [] };

const recogniserCode = (file: string): string => `
import recognise from ${JSON.stringify(`./${file}`)};
for (;;) {
  const screen = await agent.actions.screenContent();
  await agent.utils.outOfSteps.storeScreen(screen, '', String(await recognise(screen)), 0, 'none');
}`;

interface LocalProject {
  root: string;
  paths: readonly string[];
}

/** Bundles the code of a folder like a launch. Throws a CommandError if it does not compile. */
const bundleMain = (project: LocalProject): Promise<ReplayCode> => bundleCode(project);

/** Bundles the code around `screens/recognise.ts`; undefined in a project without this file. */
async function bundleRecogniser(project: LocalProject): Promise<ReplayCode | undefined> {
  const file = recogniserPaths.find((path) => project.paths.includes(path));
  if (file === undefined) return undefined;
  return bundleCode(project, { path: file, code: recogniserCode(file) });
}

async function bundleCode(
  { root, paths }: LocalProject,
  start?: { path: string; code: string },
): Promise<ReplayCode> {
  const read = async (file: string): Promise<string | null> =>
    paths.includes(file) ? textOf(await readLocalFile(root, file)) : null;
  const settings = readProjectSettings((await read(settingsPath)) ?? undefined);
  if (!settings.ok) throw doesNotCompile(settings.errors);
  const bundled = await bundle({
    of: 'project',
    paths: new Set(paths),
    settings: settings.settings,
    read,
    ...(start === undefined ? {} : { start }),
  });
  if (!bundled.ok) throw doesNotCompile(bundled.errors);
  const { code, sourceMap } = bundled;
  const automationParameters = defaultsOf(await read(schemaPath));
  const given = { automationParameters, jobVariables: {} };
  return { code, sourceMap, arguments: given, fetches: fetchesOf(await read(replayFetchesPath)) };
}

const doesNotCompile = (errors: readonly string[]): CommandError =>
  new CommandError(exitCodes.refused, `The code does not compile:\n${errors.join('\n')}`);

function fetchesOf(text: string | null): ReplayFetches {
  const value = text === null ? [] : parse(replayFetchesPath, text);
  if (fetches.Check(value)) return value;
  const found = findSchemaProblem(fetches.Type(), value);
  throw usageError(
    `${replayFetchesPath}: ${found?.field || 'the file'} ${found?.problem ?? 'does not have the required form'}.`,
  );
}

/** Returns the default values that the server fills in for a launch without parameters. */
function defaultsOf(schemaText: string | null): Record<string, unknown> {
  const schema: unknown = schemaText === null ? {} : parse(schemaPath, schemaText);
  const properties: unknown = isObject(schema) ? schema['properties'] : undefined;
  const found = Object.entries(isObject(properties) ? properties : {});
  return Object.fromEntries(
    found.flatMap(([name, property]) =>
      isObject(property) && 'default' in property ? [[name, property['default']]] : [],
    ),
  );
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(exitCodes.refused, `${file} is not valid JSON.`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
