import { ActSelector, ActStep, type ActTarget, actKeyNames } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

const stepValidator = Compile(ActStep);
const selectorValidator = Compile(ActSelector);

type Read = (words: Words) => object;

/** How each step is written, and read. */
const steps: Readonly<Record<string, Read>> = {
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

/** The words of a step that are left to read. */
class Words {
  rest: string;

  constructor(rest: string) {
    this.rest = rest.trim();
  }

  /** In quotes, or as it is. */
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
    throw new Error(`${rest} is no selector, such as {"isSwitch": true, "rightOf": {"hasText": "Wi-Fi"}}`);
  }

  /** What matches at the end, which is taken off. */
  takeEnd(end: RegExp): string | undefined {
    const found = end.exec(` ${this.rest}`);
    if (found === null) return undefined;
    this.rest = ` ${this.rest}`.slice(0, found.index).trim();
    return found[1];
  }

  /** At the last such word that is not in quotes. */
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
    throw new Error(`${text} is not closed, or no JSON`);
  }
}

/** A step as a person writes it, such as `tap #3`. Throws a sentence for people. */
export function parseStep(written: string): ActStep {
  const [, verb = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(written.trim()) ?? [];
  const type = verb.replaceAll('-', '_');
  const read = Object.hasOwn(steps, type) ? steps[type] : undefined;
  if (read === undefined)
    throw new Error(`There is no step "${verb}": a step begins with ${Object.keys(steps).join(', ')}`);
  const step: unknown = { type, ...read(new Words(rest)) };
  if (stepValidator.Check(step)) return step;
  throw new Error(`"${written}" is not complete: ${formOf(type)}`);
}

const forms: Readonly<Record<string, string>> = {
  tap: 'tap TARGET',
  long_press: 'long_press TARGET',
  type: 'type TEXT [into TARGET], or type secret:NAME [into TARGET]',
  key: `key NAME, which is ${actKeyNames.join(', ')}, or Android's number`,
  swipe: 'swipe down|up|left|right [in TARGET]',
  scroll_to: 'scroll_to TEXT [in TARGET]',
  launch: 'launch PACKAGE',
  open_link: 'open_link ADDRESS [in PACKAGE]',
  wait_for: 'wait_for TEXT [gone] [SECONDS s]',
  back: 'back',
};
const formOf = (type: string): string => forms[type] ?? type;

/** For the help. */
export const stepForms = Object.values(forms);
