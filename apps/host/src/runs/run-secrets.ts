import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type AgentCallParams,
  type LaunchSecrets,
  maxLogMessageLength,
  maxRunErrorLength,
  maxRunResultBytes,
  maxStageLength,
  maxStepMessageLength,
  maxStepTargetLength,
  redactedText,
  type SandboxLogEntry,
  type ScreenMask,
  SecretMatcher,
  whole,
} from '@phalanx/protocol';

import type { EndedStep } from '../logs/run-trace.ts';
import type { RunEnd } from './run-journal.ts';

class SecretNotFound extends Error {
  readonly code = 'secret_not_found';

  constructor(name: string) {
    super(
      `The project has no secret ${name}. Store it with "phalanx secret set ${name}" and launch again; direct code has no secrets.`,
    );
    this.name = 'SecretNotFound';
  }
}

/** Maximum length of the texts of a mask. */
const maxMaskLength = 500;

type RedactPart = (part: Uint8Array, isLast: boolean) => Promise<Uint8Array>;

/** Does work that yields every few milliseconds. Other runs of the host have turns meanwhile. */
async function inTurns<Result>(work: Iterator<unknown, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await nextTurn();
  }
}

/** Stands for an outcome that has a value in it. */
const hiddenOutcome = 'failed';

/**
 * The secrets of the runs of a project. Their values are in memory alone, and leave the host nowhere.
 *
 * Values are looked for here, in what was printed, and not in the isolate before its console prints: everything that
 * leaves a run passes here, also what the code has made of a value itself and what it read from the screen. How consoles and
 * JSON print a value is known to `SecretMatcher`.
 *
 * In a message that goes to the server the user's own texts are searched, and nothing else: a value such as `failed` must
 * not change the words of the protocol, by which the server understands all runs of this host. A text is cut to what the
 * protocol allows, because `redactedText` may be longer than a value.
 */
export class RunSecrets {
  readonly #values: ReadonlyMap<string, string>;
  #built: SecretMatcher | undefined;
  /** Resolves when values can be looked for. */
  readonly ready: Promise<void>;

  constructor(secrets: LaunchSecrets) {
    this.#values = new Map(Object.entries(secrets));
    this.ready = this.#build();
  }

  /** A hundred long values take some hundred milliseconds. */
  async #build(): Promise<void> {
    this.#built = await inTurns(SecretMatcher.building([...this.#values.values()]));
  }

  get #matcher(): SecretMatcher {
    if (this.#built === undefined) throw new Error('The secrets of a run are not ready.');
    return this.#built;
  }

  areSame(secrets: LaunchSecrets): boolean {
    return isDeepStrictEqual(Object.fromEntries(this.#values), secrets);
  }

  get(name: string): string {
    const value = this.#values.get(name);
    if (value === undefined) throw new SecretNotFound(name);
    return value;
  }

  areIn(text: string): boolean {
    return whole(this.#matcher.lookingIn(text));
  }

  /** Hides the values wherever the screen shows them. */
  masks(): ScreenMask[] {
    return [...this.#values.values()].flatMap((value) => {
      const shown = value.slice(0, maxMaskLength);
      return [{ textContains: shown }, { descriptionContains: shown }];
    });
  }

  /** A text without the values. */
  redact(text: string, maxLength = Infinity): string {
    return whole(this.#matcher.redacting(text)).slice(0, maxLength);
  }

  /** JSON without the values. JSON that becomes too long for a result is the JSON of `redactedText`. */
  redactJson(json: string): string {
    const shown = whole(this.#matcher.redactingJson(json));
    return Buffer.byteLength(shown) > maxRunResultBytes ? JSON.stringify(redactedText) : shown;
  }

  redactLog(entries: readonly SandboxLogEntry[]): SandboxLogEntry[] {
    return entries.map((entry) => ({ ...entry, message: this.redact(entry.message, maxLogMessageLength) }));
  }

  redactStep({ step, ...about }: EndedStep): EndedStep {
    const { target, message, nearest, outcome } = step;
    const short = (text: string): string => this.redact(text, maxStepMessageLength);
    return {
      ...about,
      step: {
        ...step,
        outcome: this.redact(outcome) === outcome ? outcome : hiddenOutcome,
        ...(target !== undefined && { target: this.redact(target, maxStepTargetLength) }),
        ...(message !== undefined && { message: short(message) }),
        ...(nearest !== undefined && { nearest: nearest.map(short) }),
      },
    };
  }

  redactEnd({ error, ...end }: RunEnd): RunEnd {
    if (error === null) return { ...end, error };
    const message = this.redact(error.message, maxRunErrorLength);
    const stack = error.stack && this.redact(error.stack, maxRunErrorLength);
    return { ...end, error: { ...error, message, ...(stack !== undefined && { stack }) } };
  }

  redactScreen(params: AgentCallParams<'record.screen'>): AgentCallParams<'record.screen'> {
    return {
      ...params,
      stage: this.redact(params.stage, maxStageLength),
      screenState: this.redact(params.screenState, maxStageLength),
      ...(params.root !== undefined && { root: this.#redactTexts(params.root) }),
    };
  }

  /** Does it, and rejects with no value in the reason. */
  async withoutValues<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error) error.message = this.redact(error.message);
      throw error;
    }
  }

  /** Redacts UTF-8 that comes in parts, one after another. Undefined when there is nothing to search for. */
  redactBytes(): RedactPart | undefined {
    if (this.#matcher.isEmpty) return undefined;
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    const redact = this.#matcher.parts();
    let before: Promise<unknown> = Promise.resolve();
    return (part, isLast) => {
      const shown = before.then(async () => {
        const text = decoder.decode(part, { stream: !isLast });
        return encoder.encode(await inTurns(redact(text, isLast)));
      });
      before = shown;
      return shown;
    };
  }

  /** The same in whatever texts it holds. */
  #redactTexts(value: unknown): unknown {
    if (this.#matcher.isEmpty) return value;
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((one) => this.#redactTexts(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#redactTexts(one)]));
  }
}
