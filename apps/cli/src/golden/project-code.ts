import type { ReplayCode } from '@phalanx/host/replays';
import { ReplayFetches, replayFetchesPath } from '@phalanx/protocol';
import { bundle } from '@phalanx/server/bundle';
import { readProjectSettings, settingsPath } from '@phalanx/server/project-settings';
import { Compile } from 'typebox/compile';

import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { readLocalFile, textOf } from '../project/read-local-file.ts';

/** Its function says what a screen is, also for code that stores none. */
const recogniserPaths = ['screens/recognise.ts', 'screens/recognise.js'];
const schemaPath = 'parameters.schema.json';
const fetches = Compile(ReplayFetches);

const recogniserCode = (file: string): string => `
import recognise from ${JSON.stringify(`./${file}`)};
for (;;) {
  const screen = await agent.actions.screenContent();
  await agent.utils.outOfSteps.storeScreen(screen, '', String(await recognise(screen)), 0, 'none');
}`;

export interface LocalProject {
  root: string;
  paths: readonly string[];
}

/** The code of a folder as a launch would bundle it. Throws a CommandError for what does not compile. */
export const bundleMain = (project: LocalProject): Promise<ReplayCode> => bundleCode(project);

/** The code around `screens/recognise.ts`; undefined in a project without. */
export async function bundleRecogniser(project: LocalProject): Promise<ReplayCode | undefined> {
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
  const [first] = fetches.Errors(value);
  throw usageError(`${replayFetchesPath}${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}.`);
}

/** What a launch without parameters would fill in. */
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
    throw new CommandError(exitCodes.refused, `${file} is not JSON.`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
