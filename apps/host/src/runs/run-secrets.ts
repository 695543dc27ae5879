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
import type { RunEnd } from './run-record.ts';

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

/** Does work that yields every few milliseconds, so that other runs of the host get their turns. */
async function inTurns<Result>(work: Iterator<unknown, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    await nextTurn();
  }
}

/** Replaces an outcome that contains a secret. */
const hiddenOutcome = 'failed';

/**
 * Secrets of the runs of a project. Their values exist in memory only, and never leave the host.
 *
 * Values are redacted here, in the output, and not in the isolate before its console prints. Everything that leaves a
 * run passes this point, including what the code derives from a value and what it reads from the screen.
 * `SecretMatcher` knows how consoles and JSON print a value.
 *
 * In a message to the server only the user's own texts are redacted: a value such as `failed` must not change words of
 * the protocol, by which the server understands all runs of this host. A text is truncated to the limits of the
 * protocol, because `redactedText` may be longer than a value.
 */
export class RunSecrets {
  readonly #values: ReadonlyMap<string, string>;
  #built: SecretMatcher | undefined;
  /** Resolves when `redact` and `areIn` can be called. */
  readonly ready: Promise<void>;

  constructor(secrets: LaunchSecrets) {
    this.#values = new Map(Object.entries(secrets));
    this.ready = this.#build();
  }

  /** Builds the matcher. A hundred long values take some hundred milliseconds. */
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

  /** Returns masks that hide the values wherever the screen shows them. */
  masks(): ScreenMask[] {
    return [...this.#values.values()].flatMap((value) => {
      const shown = value.slice(0, maxMaskLength);
      return [{ textContains: shown }, { descriptionContains: shown }];
    });
  }

  /** Returns the text without the values. */
  redact(text: string, maxLength = Infinity): string {
    return whole(this.#matcher.redacting(text)).slice(0, maxLength);
  }

  /** Returns the JSON without the values. When it becomes too long for a result, returns the JSON of `redactedText`. */
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

  /** Runs `work`. Removes the values from the message of an error. */
  async withoutValues<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error) error.message = this.redact(error.message);
      throw error;
    }
  }

  /** Returns a function that redacts UTF-8 in consecutive parts. Undefined when there are no values to redact. */
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

  /** Redacts all texts in a value, recursively. */
  #redactTexts(value: unknown): unknown {
    if (this.#matcher.isEmpty) return value;
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((one) => this.#redactTexts(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#redactTexts(one)]));
  }
}
