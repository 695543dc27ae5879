import { posix } from 'node:path';

import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';

import { isLanguageLibrary, names, refused, switches, unused } from './checking-options.ts';
import { createPlaceFinder, errorLine, limitLines } from './error-lines.ts';

export const settingsPath = 'tsconfig.json';
const maxLength = 256 * 1024;
const maxNesting = 50;
/** Maximum number of separators. Parsing this many takes a few milliseconds. */
const maxSeparators = 20_000;
/** Maximum length of a path in the settings. Normalising a path takes up to quadratic time. */
const maxPathLength = 1024;

/** Error numbers of the checker for errors in settings. */
const codes = {
  syntax: 1005,
  unknownOption: 5023,
  wrongType: 5024,
  unreadable: 5083,
  outside: 5090,
  refused: 5102,
};

type OptionValue = boolean | string;

/** Relevant content of a project's `tsconfig.json`: compiler options by name. */
export interface ProjectSettings {
  options: Record<string, OptionValue>;
}

export type SettingsResult = { ok: true; settings: ProjectSettings } | { ok: false; errors: string[] };

interface Reading {
  options: Record<string, OptionValue>;
  complain: (node: Node, code: number, text: string) => void;
}

/**
 * Reads a `tsconfig.json`. Allows comments and trailing commas. An undefined `text` means that there is no such file.
 */
export function readProjectSettings(text: string | undefined): SettingsResult {
  if (text === undefined) return { ok: true, settings: { options: {} } };
  if (text.length > maxLength)
    return failed([errorLine(settingsPath, undefined, codes.unreadable, 'larger than 256 KB')]);
  const findPlace = createPlaceFinder(text);
  const errors: string[] = [];
  const complainAt = (offset: number, code: number, message: string): void => {
    errors.push(errorLine(settingsPath, findPlace(offset), code, message));
  };
  const options: Record<string, OptionValue> = {};
  const root = parse(text, complainAt);
  if (root !== undefined && errors.length === 0)
    readRoot(root, { options, complain: (node, code, message) => complainAt(node.offset, code, message) });
  return errors.length === 0 ? { ok: true, settings: { options } } : failed(errors);
}

const failed = (errors: string[]): SettingsResult => ({ ok: false, errors: limitLines(errors) });

function parse(
  text: string,
  complainAt: (offset: number, code: number, message: string) => void,
): Node | undefined {
  const excess = nesting(text) > maxNesting ? 'nested too deeply' : findListProblem(text);
  if (excess !== undefined) {
    complainAt(0, codes.unreadable, excess);
    return undefined;
  }
  const mistakes: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, ' '), mistakes, {
    allowTrailingComma: true,
    allowEmptyContent: true,
  });
  for (const { offset, error } of mistakes)
    complainAt(offset, codes.syntax, `not JSON: ${printParseErrorCode(error)}`);
  return root;
}

/**
 * Limits the number of values. Each separator adds at most one value or one error; separators in comments and strings
 * count too.
 */
function findListProblem(text: string): string | undefined {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (',:[{}]'.includes(text.charAt(at))) count += 1;
  return count > maxSeparators ? `more than ${maxSeparators} values` : undefined;
}

/** Returns an upper bound of the nesting depth that the parser would reach. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function readRoot(root: Node, reading: Reading): void {
  if (root.type !== 'object') return reading.complain(root, codes.wrongType, 'must be an object');
  for (const { name, key, value } of listProperties(root)) {
    const reason = refused.get(name);
    if (name === 'compilerOptions') readOptions(value, reading);
    else if (reason !== undefined) refuse(key, value, reason, reading);
    else if (['include', 'exclude', 'files'].includes(name)) refuseOutsidePaths(value, reading);
  }
}

function readOptions(node: Node, reading: Reading): void {
  if (node.type !== 'object')
    return reading.complain(node, codes.wrongType, '"compilerOptions" must be an object');
  for (const { name, key, value } of listProperties(node)) {
    const reason = refused.get(name);
    if (reason !== undefined) refuse(key, value, reason, reading);
    else readOption(name, { key, value }, reading);
  }
}

function readOption(name: string, { key, value }: { key: Node; value: Node }, reading: Reading): void {
  if (switches.has(name)) readSwitch(name, value, reading);
  else if (names.has(name)) readName(name, value, reading);
  else if (name === 'lib') refuseOtherLibraries(value, reading);
  else if (name === 'jsx') readJsx(value, reading);
  else if (unused.has(name)) refuseOutsidePaths(value, reading);
  else reading.complain(key, codes.unknownOption, `unknown compiler option "${name}"`);
}

function readSwitch(name: string, node: Node, { options, complain }: Reading): void {
  const value: unknown = node.value;
  if (typeof value === 'boolean') options[name] = value;
  else complain(node, codes.wrongType, `"${name}" must be true or false`);
}

function readName(name: string, node: Node, { options, complain }: Reading): void {
  const value: unknown = node.value;
  if (typeof value === 'string' && /^[\w$]+(?:\.[\w$]+)*$/.test(value)) options[name] = value;
  else complain(node, codes.wrongType, `"${name}" must be the name of a function`);
}

function readJsx(node: Node, { options, complain }: Reading): void {
  const value: unknown = node.value;
  if (typeof value === 'string' && value.toLowerCase() === 'react') options['jsx'] = 'react';
  else
    complain(
      node,
      codes.wrongType,
      '"jsx" can only be "react": packages do not exist here; name your own function in "jsxFactory"',
    );
}

/**
 * Rejects libraries that are not part of the language. Sets no option, because the engine decides which libraries
 * exist.
 */
function refuseOtherLibraries(node: Node, { complain }: Reading): void {
  if (node.type !== 'array') return complain(node, codes.wrongType, '"lib" must be a list of libraries');
  for (const child of node.children ?? []) {
    const value: unknown = child.value;
    if (typeof value !== 'string' || !isLanguageLibrary(value))
      complain(
        child,
        codes.wrongType,
        `"lib" can only name libraries of the language, such as "es2025" or "esnext"`,
      );
  }
}

function refuse(key: Node, value: Node, reason: string, { complain }: Reading): void {
  const isEmpty = value.type === 'null' || value.value === false || value.children?.length === 0;
  if (!isEmpty) complain(key, codes.refused, `"${String(key.value)}" cannot be used: ${reason}`);
}

function refuseOutsidePaths(node: Node, reading: Reading): void {
  const value: unknown = node.value;
  if (typeof value === 'string') refuseOutsidePath(value, node, reading);
  for (const child of node.type === 'array' ? (node.children ?? []) : []) refuseOutsidePaths(child, reading);
}

function refuseOutsidePath(path: string, node: Node, { complain }: Reading): void {
  if (path.length > maxPathLength)
    complain(node, codes.outside, `a path of more than ${maxPathLength} characters`);
  else if (leadsOutside(path)) complain(node, codes.outside, `"${path}" is outside the project`);
}

function leadsOutside(path: string): boolean {
  const normal = posix.normalize(path.replaceAll('\\', '/'));
  return (
    normal === '..' ||
    normal.startsWith('../') ||
    normal.startsWith('/') ||
    /^[a-z]+:/i.test(normal) ||
    normal.includes('${')
  );
}

function listProperties(object: Node): { name: string; key: Node; value: Node }[] {
  return (object.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? [];
    return key === undefined || value === undefined ? [] : [{ name: String(key.value), key, value }];
  });
}
