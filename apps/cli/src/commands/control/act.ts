import type { Command } from '@commander-js/extra-typings';
import {
  deviceControlRoutes,
  type ActOutcome,
  ActStep,
  ActSelector,
  type ActTarget,
  actKeyNames,
} from '@phalanx/protocol';
import { type Command as PlainCommand, InvalidArgumentError } from 'commander';
import { Compile } from 'typebox/compile';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-by-name.ts';
import { printableLine } from '../../output/terminal.ts';
import { printJson } from '../../output/table.ts';
import { leaseOption } from './control.ts';

const stepValidator = Compile(ActStep);
const selectorValidator = Compile(ActSelector);

/** Parsers of the steps, by step type. */
const readSteps: Readonly<Record<string, Read>> = {
  tap: (words) => ({ on: words.target() }),
  long_press: (words) => ({ on: words.target() }),
  type: (words) => {
    const [typed, into] = words.splitAt('into');
    const secret = /^secret:(\w+)$/.exec(typed.rest)?.[1];
    const what = secret === undefined ? { text: typed.text() } : { secret };
    return { ...what, ...(into === undefined ? {} : { on: into.target() }) };
  },
  key: (words) => ({ key: /^\d+$/.test(words.rest) ? Number(words.rest) : words.rest }),
  swipe: (words) => {
    const [direction, within] = words.splitAt('in');
    return { direction: direction.rest, ...(within === undefined ? {} : { within: within.target() }) };
  },
  scroll_to: (words) => {
    const [on, within] = words.splitAt('in');
    return { on: on.target(), ...(within === undefined ? {} : { within: within.target() }) };
  },
  launch: (words) => ({ package_name: words.rest }),
  open_link: (words) => {
    const [url, app] = words.splitAt('in');
    return { url: url.rest, ...(app === undefined ? {} : { package_name: app.rest }) };
  },
  wait_for: (words) => {
    const seconds = words.takeEnd(/\s+(\d{1,2}) ?s$/);
    const gone = words.takeEnd(/\s+(gone)$/);
    return {
      on: words.target(),
      ...(gone === undefined ? {} : { gone: true }),
      ...(seconds === undefined ? {} : { timeout_ms: 1000 * Number(seconds) }),
    };
  },
  back: () => ({}),
};

const forms: Readonly<Record<string, string>> = {
  tap: 'tap TARGET',
  long_press: 'long_press TARGET',
  type: 'type TEXT [into TARGET], or type secret:NAME [into TARGET]',
  key: `key NAME, where NAME is ${actKeyNames.join(', ')}, or an Android key code`,
  swipe: 'swipe down|up|left|right [in TARGET]',
  scroll_to: 'scroll_to TEXT [in TARGET]',
  launch: 'launch PACKAGE',
  open_link: 'open_link ADDRESS [in PACKAGE]',
  wait_for: 'wait_for TEXT [gone] [SECONDS s]',
  back: 'back',
};

/** Written forms of the steps, for the help. */
export const stepForms = Object.values(forms);

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
  throw new InvalidArgumentError('Expected a number from 1 to 55.');
}

/** `phalanx act`: runs UI steps on the lines that `phalanx screen --compact` numbers. */
export function addActCommand(program: PlainCommand): void {
  serverCommand(program, 'act', {
    about: 'run up to ten UI steps: tap, type, scroll or wait, by line number, text or selector',
    build: actOptions,
    help: `Steps:
${stepForms.map((form) => `  ${form}`).join('\n')}
TARGET is the #NUMBER of a screen line, a TEXT, id:NAME, or a JSON selector with the same conditions as in automations.

The phone finds the target again before it touches it. The command stops at the first step that fails, prints what
changed on the screen, with new numbers, and exits with 1 if a step did not complete.

Examples:
  phalanx act SIM0001 'tap Settings' 'wait_for Display'
  phalanx act SIM0001 'tap {"isSwitch": true, "rightOf": {"hasText": "Bluetooth"}}'`,
    run: act,
  });
}

const actOptions = (command: Command) =>
  command
    .argument('<device>', 'serial number or device ID')
    .argument('<step...>', 'such as "tap #3"', parseSteps)
    .option(
      '--screen <id>',
      'ID of the screen that the numbers refer to; "phalanx screen --compact" prints it',
    )
    .option('--project <id>', 'ID of the project whose secrets the steps can type')
    .option(
      '--timeout <seconds>',
      'time limit for all steps together, from 1 to 55; default: 30',
      parseSeconds,
    )
    .option(...leaseOption)
    .option('--close-keyboard', 'close the keyboard if it covers the target of a step')
    .option('--code', 'print the completed steps as automation code instead of the screen');

async function act(
  { api }: Connection,
  flags: OptionsOf<typeof actOptions> & ServerFlags,
  device: string,
  steps: ActStep[],
): Promise<void> {
  const { screen, project, timeout, lease, closeKeyboard, code, json } = flags;
  const params = { id: deviceIdOf(await listDevices(api), device) };
  const body = {
    steps: closeKeyboard === true ? steps.map(closingKeyboard) : steps,
    ...(screen === undefined ? {} : { screen_id: screen }),
    ...(project === undefined ? {} : { project_id: project }),
    ...(lease === undefined ? {} : { lease_id: lease }),
    ...(timeout === undefined ? {} : { timeout_ms: 1000 * timeout }),
  };
  const reply = await api.call(deviceControlRoutes.act, { params, body });
  if (json) printJson(reply);
  else for (const line of code ? reply.code : outcomeLines(reply)) console.log(printableLine(line));
  if (!reply.done) throw new CommandError(exitCodes.failed, 'Not all steps completed.');
}

const closingKeyboard = (step: ActStep): ActStep =>
  step.type === 'tap' || step.type === 'long_press' || step.type === 'type'
    ? { ...step, close_keyboard: true }
    : step;

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

type Read = (words: Words) => object;

/** Unread words of a step. */
class Words {
  rest: string;

  constructor(rest: string) {
    this.rest = rest.trim();
  }

  /** Returns the rest, without its quotes if it has any. */
  text(): string {
    return this.rest.startsWith('"') ? String(jsonOf(this.rest)) : this.rest;
  }

  target(): ActTarget {
    const { rest } = this;
    if (/^#\d{1,4}$/.test(rest)) return Number(rest.slice(1));
    if (rest.startsWith('id:')) return { hasId: rest.slice('id:'.length) };
    if (!rest.startsWith('{')) return this.text();
    const selector = jsonOf(rest);
    if (selectorValidator.Check(selector)) return selector;
    throw new Error(
      `${rest} is not a selector; an example is {"isSwitch": true, "rightOf": {"hasText": "Wi-Fi"}}`,
    );
  }

  /** Removes a match at the end, and returns its first group. */
  takeEnd(end: RegExp): string | undefined {
    const found = end.exec(` ${this.rest}`);
    if (found === null) return undefined;
    this.rest = ` ${this.rest}`.slice(0, found.index).trim();
    return found[1];
  }

  /** Splits the rest at the last `word` outside quotes. */
  splitAt(word: string): [Words, Words | undefined] {
    const { rest } = this;
    const at = rest.lastIndexOf(` ${word} `);
    const before = rest.slice(0, Math.max(0, at));
    const isQuoted = before.startsWith('"') && !before.trimEnd().endsWith('"');
    if (at < 0 || isQuoted) return [this, undefined];
    return [new Words(before), new Words(rest.slice(at + word.length + 2))];
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${text} is not valid JSON: it may lack a closing quote or bracket`);
  }
}

/** Parses a written step, such as `tap #3`. Throws an error with a message for the user. */
export function parseStep(written: string): ActStep {
  const [, verb = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(written.trim()) ?? [];
  const type = verb.replaceAll('-', '_');
  const read = Object.hasOwn(readSteps, type) ? readSteps[type] : undefined;
  if (read === undefined)
    throw new Error(`Unknown step "${verb}": a step begins with ${Object.keys(readSteps).join(', ')}`);
  const step: unknown = { type, ...read(new Words(rest)) };
  if (stepValidator.Check(step)) return step;
  throw new Error(`"${written}" is incomplete: write ${formOf(type)}`);
}

const formOf = (type: string): string => forms[type] ?? type;
