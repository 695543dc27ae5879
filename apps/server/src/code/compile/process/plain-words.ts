import { hintOfGlobal, hintOfMember, hintOfModule } from '@phalanx/automation/name-hints';
import { findImportedPath, findModule, isRelative } from '../source-paths.ts';
import type { CheckerMessage } from './checker.ts';
import type { Sources } from './import-graph.ts';

/** Error numbers: cannot find a module · its side effects · a JSON module · a module of Node. */
const importCodes = new Set([2307, 2882, 2732, 2591]);

/** Error numbers: cannot find a referenced file · the same without an extension. */
const referenceCodes = new Set([6053, 6231]);

/** Error numbers for names and members of newer libraries, whose messages advise changing the project's "lib". */
const newerCodes = new Set([2550, 2583, 2585]);

/** Error numbers for names of Node, browsers and test runners, whose messages advise installing their types. */
const foreignNameCodes = new Set([2580, 2581, 2582, 2584, 2591, 2592, 2593]);

/**
 * Rewords the checker's messages about unresolved imports and about names of other runtimes. Returns undefined for an
 * import whose file may still be written, and for a name in a `typeof` check of the runtime. Leaves other messages
 * unchanged.
 */
export function inPlainWords(message: CheckerMessage, sources: Sources): CheckerMessage | undefined {
  const text = message.path === undefined ? undefined : sources.findText(message.path);
  const source = (text ?? '').slice(message.start, message.end).trim();
  const isImport = importCodes.has(message.code) && /^['"`]/.test(source);
  const isReference = referenceCodes.has(message.code);
  if (message.path !== undefined && (isImport || isReference))
    return judgeImport({ ...message, path: message.path }, source.replaceAll(/^['"`]|['"`]$/g, ''), sources);
  return asksWhetherThere(message, text ?? '')
    ? undefined
    : { ...message, text: withHint(message, text ?? '') };
}

/**
 * Whether the name is part of a check such as `typeof window === 'undefined'`, by which portable code detects its
 * runtime.
 */
function asksWhetherThere({ text, start, end }: CheckerMessage, source: string): boolean {
  return (
    text.startsWith('Cannot find name ') &&
    /\btypeof\s+$/.test(source.slice(Math.max(0, start - 20), start)) &&
    /^\s*[!=]==?\s*['"`]/.test(source.slice(end, end + 20))
  );
}

const missingName =
  /^(?:Cannot find (?:name|namespace) )?'([\w$]+)'(?: only refers to a type, but is being used as a value here)?$/;

/** Adds a hint about what to use instead of a name from browsers, Node or other tools. */
function withHint(message: CheckerMessage, source: string): string {
  const [said = ''] = message.text.split(/\.? (?=Do you need to |Try changing |Did you mean |Consider )/);
  const sentence = said.replace(/\.$/, '');
  const name = missingName.exec(sentence)?.[1];
  const hint = name === undefined ? hintOfMissing(sentence, source.slice(message.end)) : hintOfGlobal(name);
  if (hint !== undefined) return `${sentence}: ${hint}.`;
  if (foreignNameCodes.has(message.code))
    return `${sentence}. Automations run neither in Node nor in a browser.`;
  // Names the engine, because the engine decides which libraries exist, whatever the project's "lib" lists.
  return newerCodes.has(message.code)
    ? `${sentence}: the engine of the sandbox does not have it.`
    : message.text;
}

function hintOfMissing(sentence: string, after: string): string | undefined {
  const found = /^Property '([\w$]+)' does not exist on type '(.+)'$/.exec(sentence);
  const [, name, type] = found ?? [];
  if (name === undefined || type === undefined) return undefined;
  return hintOfMember({ name, type, next: /^(?:\(\))?[?!]*\.([\w$]+)/.exec(after)?.[1] });
}

function judgeImport(
  message: CheckerMessage & { path: string },
  specifier: string,
  { has }: Sources,
): CheckerMessage | undefined {
  if (!referenceCodes.has(message.code) && !isRelative(specifier))
    return { ...message, text: `Cannot find module '${specifier}': ${foreignText(specifier)}.` };
  const path = specifier.startsWith('/') ? undefined : findImportedPath(message.path, specifier);
  if (path === undefined) return { ...message, text: outsideText(specifier) };
  return has(path) && findModule(path, has) === path ? message : undefined;
}

/** Returns the message about importing a package, to be appended to the package's name. */
export function foreignText(specifier: string): string {
  const hint = hintOfModule(specifier);
  const instead =
    hint === undefined ? ', only files of the project can be imported, by relative paths' : `; ${hint}`;
  return `packages do not exist here${instead}`;
}

const outsideText = (specifier: string): string => `'${specifier}' is outside the project.`;
