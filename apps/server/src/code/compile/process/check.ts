import { createPlaceFinder, errorLine, type Place } from '../error-lines.ts';
import { findCompiledPath, isTypeScript } from '../source-paths.ts';
import { settingsPath } from '../project-settings.ts';
import type { Checker, CheckerMessage } from './checker.ts';
import { emit, listPlainMistakes, type EmitResult } from './emit.ts';
import { createFollowUpTest } from './follow-ups.ts';
import { listUsers, type Sources } from './import-graph.ts';
import type { CheckedMessage, CheckMessage } from './messages.ts';
import { inPlainWords } from './plain-words.ts';

/**
 * Error number for a type that is re-exported without the keyword `type`. The emitter can't detect this from a single
 * file.
 */
const typeReexport = 1205;
/** Time budget for checking the files that depend on a changed one. */
const usersTimeMs = 250;

/** Checks and emits. Emitting runs in its own process while the checker blocks this one. */
export async function check(checker: Checker, message: CheckMessage): Promise<CheckedMessage> {
  const { root, path } = message;
  if (path !== undefined && !isTypeScript(path)) {
    const errors = await listPlainMistakes(path, checker.getSources(root).findText(path) ?? '');
    return answer({ errors, ...judgeUsers(checker, message) });
  }
  const paths =
    path === undefined
      ? checker.listFiles(root).filter((file) => findCompiledPath(file) !== undefined)
      : [path];
  const emitting =
    path === undefined || findCompiledPath(path) === undefined
      ? undefined
      : emitFiles(checker, message, new Map([[path, []]]));
  emitting?.catch(() => {
    // Handles the rejection early: the promise is awaited below, but the checker may throw before.
  });
  const { errors, wanted, reexports } = judge(checker, message, path);
  if (errors.length > 0 || wanted.length > 0) return answer({ errors, wanted });
  const again = emitting === undefined || reexports.length > 0;
  const emitted = answerEmitted(
    again ? await emitFiles(checker, message, groupByPath(paths, reexports)) : await emitting,
  );
  return { ...emitted, ...judgeUsers(checker, message) };
}

interface Judgement {
  errors: string[];
  wanted: string[];
  reexports: CheckerMessage[];
}

/** Lists the errors in one file, or in all files, as lines. */
function judge(checker: Checker, message: CheckMessage, path: string | undefined): Judgement {
  const { root, settings } = message;
  const sources = checker.getSources(root);
  const { messages, wanted } = checker.check(root, settings.options, path);
  const reexports = needsWords(message) ? messages.filter(({ code }) => code === typeReexport) : [];
  const mistakes = messages
    .filter((found) => !reexports.includes(found))
    .flatMap((found) => inPlainWords(found, sources) ?? []);
  return { errors: diagnosticLines(withoutFollowUps(mistakes, sources), sources), wanted, reexports };
}

/** Whether to add a missing keyword `type` instead of reporting it. A project's options can request the report. */
const needsWords = ({ settings: { options } }: CheckMessage): boolean =>
  options['isolatedModules'] !== true && options['verbatimModuleSyntax'] !== true;

function withoutFollowUps(mistakes: readonly CheckerMessage[], sources: Sources): CheckerMessage[] {
  const tests = new Map<string, (message: CheckerMessage) => boolean>();
  return mistakes.filter((mistake) => {
    if (mistake.path === undefined) return true;
    const test = tests.get(mistake.path) ?? createFollowUpTest(sources, mistake.path);
    tests.set(mistake.path, test);
    return !test(mistake);
  });
}

/** Checks the files that depend on the checked one, as many as fit into `usersTimeMs`. */
function judgeUsers(checker: Checker, message: CheckMessage): Pick<CheckedMessage, 'warnings' | 'wanted'> {
  const { root, path } = message;
  const found = { warnings: [] as string[], wanted: [] as string[] };
  if (path === undefined) return found;
  const until = performance.now() + usersTimeMs;
  for (const user of listUsers(checker.getSources(root), checker.listFiles(root), path)) {
    if (performance.now() > until) break;
    const { errors, wanted } = judge(checker, message, user);
    found.warnings.push(...errors);
    found.wanted.push(...wanted);
  }
  return found;
}

/** Lists the syntax errors of a text as error lines. */
export function syntaxLines(checker: Checker, path: string, text: string): string[] {
  return diagnosticLines(checker.checkSyntax(path, text), { has: () => true, findText: () => text });
}

function diagnosticLines(messages: readonly CheckerMessage[], { findText }: Sources): string[] {
  const finders = new Map<string, (offset: number) => Place>();
  const placeOf = (path: string, offset: number): Place => {
    const finder = finders.get(path) ?? createPlaceFinder(findText(path) ?? '');
    finders.set(path, finder);
    return finder(offset);
  };
  const lines = messages
    .toSorted(byPlace)
    .map(({ path, start, code, text }) =>
      errorLine(path ?? settingsPath, path === undefined ? undefined : placeOf(path, start), code, text),
    );
  return [...new Set(lines)];
}

function byPlace(one: CheckerMessage, other: CheckerMessage): number {
  const paths = [one.path ?? '', other.path ?? ''] as const;
  if (paths[0] !== paths[1]) return paths[0] < paths[1] ? -1 : 1;
  return one.start - other.start || one.code - other.code;
}

type Reexports = Map<string, CheckerMessage[]>;

function groupByPath(paths: readonly string[], reexports: readonly CheckerMessage[]): Reexports {
  return new Map(paths.map((path) => [path, reexports.filter((found) => found.path === path)]));
}

async function emitFiles(
  checker: Checker,
  { root, settings }: CheckMessage,
  files: Reexports,
): Promise<[path: string, result: EmitResult][]> {
  return Promise.all(
    [...files].map(async ([path, reexports]): Promise<[string, EmitResult]> => {
      const text = withTypeWords(checker.getSources(root).findText(path) ?? '', reexports);
      return [findCompiledPath(path) ?? path, await emit(path, text, settings)];
    }),
  );
}

/**
 * Turns `export { Shape }` into `export { type Shape }`, from the last place to the first so that offsets stay valid.
 */
const withTypeWords = (text: string, reexports: readonly CheckerMessage[]): string =>
  reexports
    .toSorted((one, other) => other.start - one.start)
    .reduce((changed, { start }) => `${changed.slice(0, start)}type ${changed.slice(start)}`, text);

function answerEmitted(results: readonly [path: string, result: EmitResult][]): CheckedMessage {
  const errors = results.flatMap(([, result]) => (result.ok ? [] : result.errors));
  const outputs = results.flatMap(([path, result]): [string, string][] =>
    result.ok ? [[path, result.js]] : [],
  );
  return errors.length > 0 ? answer({ errors }) : answer({ outputs });
}

const answer = (parts: Partial<CheckedMessage>): CheckedMessage => ({
  kind: 'checked',
  errors: [],
  outputs: [],
  wanted: [],
  warnings: [],
  ...parts,
});
