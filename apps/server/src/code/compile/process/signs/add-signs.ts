import type { SourceFile } from 'typescript/unstable/ast';
import type { Project } from 'typescript/unstable/sync';

import { findCompiledPath } from '../../source-paths.ts';
import { type Addition, findInsertions, NoPlace } from './add-sign.ts';
import type { Checker } from '../checker.ts';
import { diffOf, insertAll, type Insertion } from './code-insertions.ts';
import type { AddSignsMessage, SignsAddedMessage } from '../messages.ts';

type Fix = SignsAddedMessage['fixes'][number];

/**
 * Maximum length of a searched file, in UTF-16 units. Longer files are not written by hand, and each sign's reply would
 * contain them.
 */
const maxFileLength = 200_000;

/**
 * Returns the changed files per sign, or the reason why the sign has no place or the change would not compile. Leaves
 * the project's files unchanged.
 */
export function addSigns(checker: Checker, message: AddSignsMessage): SignsAddedMessage {
  const { name, as: kind, signs, button, claimedBy, stage } = message;
  const before = mistakes(checker, message);
  if (before.wanted.length > 0) return { kind: 'signs added', fixes: [], wanted: before.wanted };
  const fixes = signs.map((sign) =>
    addSign(checker, message, { addition: { name, kind, sign, button, claimedBy, stage }, before }),
  );
  return { kind: 'signs added', fixes, wanted: [] };
}

interface Adding {
  addition: Addition;
  before: Mistakes;
}

function addSign(checker: Checker, message: AddSignsMessage, { addition, before }: Adding): Fix {
  try {
    const files = checker.look(message, (project) => edit(checker, { project, message, addition }));
    const problem = newMistake(checker, message, { files, before });
    return problem === undefined ? { files, problem: '' } : { files: [], problem };
  } catch (error) {
    if (error instanceof NoPlace) return { files: [], problem: error.message };
    throw error;
  }
}

interface Editing {
  project: Project;
  message: AddSignsMessage;
  addition: Addition;
}

function edit(checker: Checker, { project, message: { root }, addition }: Editing): Fix['files'] {
  const known = checker.getSources(root);
  const paths = checker.listFiles(root).filter((path) => {
    const text = findCompiledPath(path) === undefined ? '' : (known.findText(path) ?? '');
    return text.length <= maxFileLength && /\b(?:runStages|storeScreen)\b/.test(text);
  });
  const sources = paths.toSorted().flatMap((path) => project.program.getSourceFile(`${root}/${path}`) ?? []);
  const isOwn = ({ fileName, text }: SourceFile): boolean =>
    fileName.startsWith(`${root}/`) && known.findText(fileName.slice(root.length + 1)) === text;
  return filesOf(findInsertions({ project, isOwn }, sources, addition), root);
}

const filesOf = (insertions: readonly Insertion[], root: string): Fix['files'] =>
  [...Map.groupBy(insertions, ({ source }) => source)].map(([{ fileName, text }, inFile]) => {
    const path = fileName.slice(root.length + 1);
    return { path, content: insertAll(text, inFile), diff: diffOf(path, text, inFile) };
  });

interface Mistakes {
  lines: ReadonlySet<string>;
  wanted: string[];
}

/** Lists the errors of the whole project without their places, because insertions move them. */
function mistakes(checker: Checker, { root, settings }: AddSignsMessage): Mistakes {
  const { messages, wanted } = checker.check(root, settings.options);
  return { lines: new Set(messages.map(({ path, text }) => `${path}: ${text}`)), wanted };
}

/** Finds an error that the changed files would add. Restores the files afterwards. */
function newMistake(
  checker: Checker,
  message: AddSignsMessage,
  { files, before }: { files: Fix['files']; before: Mistakes },
): string | undefined {
  const { root } = message;
  const sources = checker.getSources(root);
  const old = files.map(({ path }) => [path, sources.findText(path) ?? null] as const);
  checker.change(root, { set: files.map(({ path, content }) => [path, content]), removed: [] });
  try {
    const added = [...mistakes(checker, message).lines].find((line) => !before.lines.has(line));
    return added === undefined ? undefined : `The change would not compile: ${added}`;
  } finally {
    checker.change(root, { set: old, removed: [] });
  }
}
