import { readFile } from 'node:fs/promises';
import type { Command, OptionValues } from '@commander-js/extra-typings';

import { usageError } from '../exit-codes.ts';
import { repeated } from '../option-values.ts';

export const parametersHelp = `--param name=value takes the value as JSON if it is valid JSON, otherwise as text: n=3 is a number, s=Ada is text. To
require JSON, or to pass text that looks like JSON, write --param 's:="3"'. Single parameters override those of a file.
`;

type Parameters = Record<string, unknown>;

function parseJson(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return { value };
  } catch {
    return undefined;
  }
}

/** Whether a number would lose digits, such as a phone number or a long ID. Such a value stays text. */
const losesDigits = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);

function guess(text: string): unknown {
  const parsed = parseJson(text);
  return parsed === undefined || losesDigits(parsed.value) ? text : parsed.value;
}

/** Parses `name=value`, whose value is JSON if it is valid JSON and otherwise text, or `name:=json`. */
export function parseAssignment(flag: string, text: string): [name: string, value: unknown] {
  const [, name, sign, value] = /^([^=]*[^=:])(:?=)(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw usageError(`${flag} must be name=value or name:=json, but is "${text}".`);
  if (sign === '=') return [name, guess(value)];
  const parsed = parseJson(value);
  if (parsed === undefined)
    throw usageError(`${flag} ${name}: the value after := must be JSON, but is "${value}".`);
  return [name, parsed.value];
}

async function readObject(flag: string, file: string): Promise<Parameters> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw usageError(`${flag}: ${file} cannot be read.`);
  });
  const value = parseJson(text)?.value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw usageError(`${flag}: ${file} must contain a JSON object.`);
}

/** Reads the parameters of a file, overridden by single assignments. */
export async function readParameters(
  flag: string,
  assignments: readonly string[],
  file?: string,
): Promise<Parameters> {
  const fromFile = file === undefined ? {} : await readObject(`--${flag}s-file`, file);
  const single = assignments.map((text) => parseAssignment(`--${flag}`, text));
  return Object.fromEntries([...Object.entries(fromFile), ...single]);
}

interface ParameterFlags {
  param: string[];
  paramsFile?: string;
  var: string[];
  varsFile?: string;
}

export const addParameterOptions = <Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) =>
  command
    .option('--param <name=value>', 'one of the automationParameters (repeatable)', repeated, [])
    .option('--params-file <file>', 'JSON file with the automationParameters')
    .option('--var <name=value>', 'one of the jobVariables (repeatable)', repeated, [])
    .option('--vars-file <file>', 'JSON file with the jobVariables');

/** Reads the inputs of a launch for its runs. */
export async function readInputs(flags: ParameterFlags): Promise<{
  automationParameters: Record<string, unknown>;
  jobVariables: Record<string, unknown>;
}> {
  return {
    automationParameters: await readParameters('param', flags.param, flags.paramsFile),
    jobVariables: await readParameters('var', flags.var, flags.varsFile),
  };
}
