import { deviceControlRoutes, type ActOutcome, type ActStep } from '@phalanx/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { leaseOption } from './control.ts';
import { parseStep, stepForms } from '../../act/parse-step.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-device.ts';
import { printableLine } from '../../output/printable.ts';
import { printJson } from '../../output/table.ts';

interface Flags extends ConnectionFlags {
  screen?: string;
  project?: string;
  timeout?: number;
  lease?: string;
  code?: true;
  json?: true;
}

function parseSteps(written: string, before: readonly ActStep[] = []): ActStep[] {
  try {
    return [...before, parseStep(written)];
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : '');
  }
}

function parseSeconds(text: string): number {
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= 55) return seconds;
  throw new InvalidArgumentError('Give a number from 1 to 55.');
}

/** `phalanx act`: steps by hand, on what `phalanx screen --compact` has numbered. */
export function addActCommand(program: Command): void {
  const command = program
    .command('act')
    .description('do up to ten steps by hand: tap, type, scroll, wait, by number, text or selector')
    .argument('<device>', 'serial number or device ID')
    .argument('<step...>', 'such as "tap #3"', parseSteps)
    .option('--screen <id>', 'the screen that the numbers are of, as "phalanx screen --compact" printed it')
    .option('--project <id>', 'whose secrets are typed')
    .option('--timeout <seconds>', 'of all steps; 1 to 55, default 30', parseSeconds)
    .option(...leaseOption)
    .option('--code', 'print what was done as code of an automation, in place of the screen')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Steps:
${stepForms.map((form) => `  ${form}`).join('\n')}
A TARGET is #NUMBER of a line of the screen, a TEXT, id:NAME, or a selector as JSON with the conditions of automations.

Before a touch the phone looks for the node again. It stops at the first step that fails, and prints what has changed on
the screen, with new numbers. Exit code 1 says that not all was done.

Examples:
  phalanx act SIM0001 'tap Settings' 'wait_for Display'
  phalanx act SIM0001 'tap {"isSwitch": true, "rightOf": {"hasText": "Bluetooth"}}'`,
    )
    .action(act);
  addConnectionOptions(command);
}

async function act(
  device: string,
  steps: ActStep[],
  { screen, project, timeout, lease, code, json, ...flags }: Flags,
): Promise<void> {
  const { api } = await connect(flags);
  const params = { id: deviceIdOf(await listDevices(api), device) };
  const body = {
    steps,
    ...(screen === undefined ? {} : { screen_id: screen }),
    ...(project === undefined ? {} : { project_id: project }),
    ...(lease === undefined ? {} : { lease_id: lease }),
    ...(timeout === undefined ? {} : { timeout_ms: 1000 * timeout }),
  };
  const reply = await api.call(deviceControlRoutes.act, { params, body });
  if (json) printJson(reply);
  else for (const line of code ? reply.code : outcomeLines(reply)) console.log(printableLine(line));
  if (!reply.done) throw new CommandError(exitCodes.failed, 'Not all steps were done.');
}

function outcomeLines({ steps, screen, settled }: ActOutcome): string[] {
  return [
    ...steps.flatMap(({ type, state, refusal, message, candidates = [] }, index) => [
      `step ${index + 1} ${type}: ${state}${refusal === undefined ? '' : ` (${refusal}) ${message ?? ''}`}`,
      ...candidates.map((line) => `  may be ${line}`),
    ]),
    `screen ${screen.screen_id}${screen.view === 'diff' ? ', what has changed' : ''}${settled ? '' : ', still moving'}`,
    ...screen.lines,
  ];
}
