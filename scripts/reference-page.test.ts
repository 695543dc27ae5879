import { expect, it } from 'vitest';

import { referencePage } from './reference-page.ts';

const source = `
/**
 * A phone.
 * It rings.
 *
 * @example
 * phone.ring(
 *   1,
 * );
 */
interface Phone extends Thing {
  /** Its name. */
  readonly name: string;
  /**
   * Rings.
   * @param times How often:
   *   at least once.
   */
  ring(
    /** How often. */
    times: number,
  ): Promise<void>;

  // Not for the reader.
  silent: boolean;
}

type Sound =
  | 'low'
  | 'high';
declare class PhoneError extends Error {
  private constructor();
  code: string;
}
`;

it('a page has each declaration with its members, their words, and examples as code that runs', () => {
  const page = referencePage('phone', 'phone.d.ts', source).split('\n\n');
  expect(page.filter((part) => !part.startsWith('<!--'))).toEqual([
    '# phone',
    '## Phone',
    'With all of `Thing`.',
    'A phone.\nIt rings.',
    '```ts\nphone.ring(\n  1,\n);\n```',
    '### `name: string`',
    'Its name.',
    '### `ring(times: number): Promise<void>`',
    'Rings.',
    '- `times`: How often: at least once.',
    '### `silent: boolean`',
    '## Sound',
    "`type Sound = 'low' | 'high'`",
    '## PhoneError',
    'With all of `Error`.',
    '### `code: string`\n',
  ]);
});
