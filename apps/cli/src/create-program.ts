import { createRequire } from 'node:module';
import { Command, Help } from 'commander';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { exitCodesHelp } from './exit-codes.ts';

const Manifest = Compile(Type.Object({ version: Type.String() }));

/** Version of the whole release, in the repository and installed. */
const version: string = Manifest.Parse(createRequire(import.meta.url)('../../../package.json')).version;

/** Returns the program without its commands. */
export const createProgram = (): Command =>
  new Command('phalanx')
    .description('Run TypeScript automations on a fleet of Android phones.')
    .version(version, '--version', 'print the version')
    .addHelpText('after', exitCodesHelp)
    // Options belong to the command before them, so a group and its subcommands can have the same options.
    .enablePositionalOptions()
    .configureHelp({
      optionDescription: (option) => new Help().optionDescription(option).replace(' (default: [])', ''),
    });
