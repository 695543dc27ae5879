import { findImportedPath, findModule, isRelative } from '../import-resolution.ts';
import type { CheckerMessage } from './checker.ts';
import type { Sources } from './import-graph.ts';

/** Cannot find module · the same for its side effects · the same for JSON · a module of Node. */
const importCodes = new Set([2307, 2882, 2732, 2591]);
/** Cannot find a file that is referred to · the same without an ending. */
const referenceCodes = new Set([6053, 6231]);
/** Names of Node, of browsers and of test runners, with advice to install their types. */
const foreignNameCodes = new Set([2580, 2581, 2582, 2584, 2591, 2592, 2593]);

/**
 * Says in the words of this service what the checker says of imports that lead nowhere and of names of other
 * runtimes. Undefined when it is no mistake yet, because the file may still arrive. Other messages stay as they are.
 */
export function inPlainWords(message: CheckerMessage, sources: Sources): CheckerMessage | undefined {
  const text = message.path === undefined ? undefined : sources.findText(message.path);
  const source = (text ?? '').slice(message.start, message.end).trim();
  const isImport = importCodes.has(message.code) && /^['"`]/.test(source);
  const isReference = referenceCodes.has(message.code);
  if (message.path !== undefined && (isImport || isReference))
    return judgeImport({ ...message, path: message.path }, source.replaceAll(/^['"`]|['"`]$/g, ''), sources);
  if (!foreignNameCodes.has(message.code)) return message;
  return {
    ...message,
    text: `${message.text.split('. ')[0]}. Automations run neither in Node nor in a browser.`,
  };
}

function judgeImport(
  message: CheckerMessage & { path: string },
  specifier: string,
  { has }: Sources,
): CheckerMessage | undefined {
  if (!referenceCodes.has(message.code) && !isRelative(specifier))
    return { ...message, text: foreignText(specifier) };
  const path = specifier.startsWith('/') ? undefined : findImportedPath(message.path, specifier);
  if (path === undefined) return { ...message, text: outsideText(specifier) };
  return has(path) && findModule(path, has) === path ? message : undefined;
}

const foreignText = (specifier: string): string =>
  `Cannot find module '${specifier}': packages do not exist here, only files of the project can be imported, by relative paths.`;
const outsideText = (specifier: string): string => `'${specifier}' leads out of the project.`;
