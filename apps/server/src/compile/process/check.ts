import { findCompiledPath } from '../source-paths.ts';
import type { Checker, CheckerMessage } from './checker.ts';
import { diagnosticLines } from './diagnostic-lines.ts';
import { emit, type EmitResult } from './emit.ts';
import { inPlainWords } from './plain-words.ts';
import type { CheckedMessage, CheckMessage } from './messages.ts';

/** A type that is exported again without the word `type`, which the emitter cannot know from one file alone. */
const typeReexport = 1205;

/** Checks and emits; emitting goes on in its own process while the checker blocks this one. */
export async function check(checker: Checker, message: CheckMessage): Promise<CheckedMessage> {
  const { root, path, settings, isEmitted } = message;
  const paths =
    path === undefined
      ? checker.listFiles(root).filter((file) => findCompiledPath(file) !== undefined)
      : [path];
  const emitting =
    isEmitted && path !== undefined ? emitFiles(checker, message, new Map([[path, []]])) : undefined;
  emitting?.catch(() => {
    // Awaited below; the checker may throw before.
  });
  const { messages, wanted } = checker.check(root, settings.options, path);
  const reexports = needsWords(message) ? messages.filter(({ code }) => code === typeReexport) : [];
  const errors = diagnosticLines(
    messages.filter((found) => !reexports.includes(found)).flatMap((found) => judge(checker, message, found)),
    (file) => checker.findText(root, file),
  );
  if (errors.length > 0 || wanted.length > 0 || !isEmitted) return answer({ errors, wanted });
  const again = emitting === undefined || reexports.length > 0;
  return answerEmitted(
    again ? await emitFiles(checker, message, groupByPath(paths, reexports)) : await emitting,
  );
}

/** Unless the project asked to hear of it. */
const needsWords = ({ settings: { options } }: CheckMessage): boolean =>
  options['isolatedModules'] !== true && options['verbatimModuleSyntax'] !== true;

function judge(
  checker: Checker,
  { root, isComplete }: CheckMessage,
  found: CheckerMessage,
): CheckerMessage[] {
  const text = found.path === undefined ? '' : (checker.findText(root, found.path) ?? '');
  const judged = inPlainWords(found, { text, isComplete, exists: (file) => checker.hasFile(root, file) });
  return judged === undefined ? [] : [judged];
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
      const text = withTypeWords(checker.findText(root, path) ?? '', reexports);
      return [findCompiledPath(path) ?? path, await emit(path, text, settings)];
    }),
  );
}

/** `export { Shape }` becomes `export { type Shape }`, from the last place to the first so that offsets hold. */
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
  ...parts,
});
