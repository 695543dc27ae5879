import { createPartRedactor, createRedactor, type LaunchSecrets, type ScreenMask } from '@phalanx/protocol';

class SecretNotFound extends Error {
  readonly code = 'secret_not_found';

  constructor(name: string) {
    super(
      `The project has no secret ${name}. Store it with "phalanx secret set ${name}" and launch again; direct code has no secrets.`,
    );
    this.name = 'SecretNotFound';
  }
}

/** Texts of a mask are at most so long. */
const maxMaskLength = 500;

/** The secrets of one run. Their values are in memory alone, and leave the host nowhere. */
export class RunSecrets {
  readonly #values: ReadonlyMap<string, string>;
  readonly #redactText: (text: string) => string;

  constructor(secrets: LaunchSecrets) {
    this.#values = new Map(Object.entries(secrets));
    this.#redactText = createRedactor([...this.#values.values()]);
  }

  get(name: string): string {
    const value = this.#values.get(name);
    if (value === undefined) throw new SecretNotFound(name);
    return value;
  }

  /** Hides the values wherever the screen shows them. */
  masks(): ScreenMask[] {
    return [...this.#values.values()].flatMap((value) => {
      const shown = value.slice(0, maxMaskLength);
      return [{ textContains: shown }, { descriptionContains: shown }];
    });
  }

  /** The same without the values, in whatever strings it holds. */
  redact<Value>(value: Value): Value {
    if (this.#values.size === 0) return value;
    // A string stays a string, and everything else keeps its shape.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return this.#redact(value) as Value;
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

  /** For UTF-8 that comes in parts. Undefined when there is nothing to search for. */
  redactBytes(): ((part: Uint8Array, isLast: boolean) => Uint8Array) | undefined {
    if (this.#values.size === 0) return undefined;
    const decoder = new TextDecoder();
    const encoder = new TextEncoder();
    const redact = createPartRedactor([...this.#values.values()]);
    return (part, isLast) => encoder.encode(redact(decoder.decode(part, { stream: !isLast }), isLast));
  }

  #redact(value: unknown): unknown {
    if (typeof value === 'string') return this.#redactText(value);
    if (Array.isArray(value)) return value.map((one) => this.#redact(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#redact(one)]));
  }
}
