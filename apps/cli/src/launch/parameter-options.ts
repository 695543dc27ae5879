import type { Command } from 'commander';

import { repeated } from '../repeated.ts';
import { readParameters } from './parameters.ts';

export interface ParameterFlags {
  param: string[];
  paramsFile?: string;
  var: string[];
  varsFile?: string;
}

export const parametersHelp = `
--param name=value takes the value as JSON if it is JSON, else as text: n=3 is a number, s=Ada is text. For text that
looks like JSON, and to be sure of JSON, write --param 's:="3"'. Single parameters stand above those of the file.
`;

export function addParameterOptions(command: Command): Command {
  return command
    .option(
      '--param <name=value>',
      'one of the automationParameters; may be given several times',
      repeated,
      [],
    )
    .option('--params-file <file>', 'JSON file with the automationParameters')
    .option('--var <name=value>', 'one of the jobVariables; may be given several times', repeated, [])
    .option('--vars-file <file>', 'JSON file with the jobVariables');
}

/** What a launch gives to its runs. */
export async function readInputs(flags: ParameterFlags): Promise<{
  automationParameters: Record<string, unknown>;
  jobVariables: Record<string, unknown>;
}> {
  return {
    automationParameters: await readParameters('param', flags.param, flags.paramsFile),
    jobVariables: await readParameters('var', flags.var, flags.varsFile),
  };
}
