import { Type, type TString } from 'typebox';

/**
 * Maximum length, in UTF-16 units, of a text that a user searches for in texts of others. `includes`,
 * `indexOf`, `split` and `replaceAll` take the product of both lengths for such needles as `abaaaa…` in
 * `aaaa…`, from 250 letters on: V8 knows no more of a needle at once, and takes 15 seconds of the event loop
 * for 1,000 letters in 16 MB. `LIKE` in databases does so at any length: see `hasPart` in
 * `storage/db/dialect.ts`. Longer texts, such as secrets, are found by an automaton (`SecretMatcher`).
 */
const maxSearchLength = 200;

/** A text that is searched for, as a query has it. */
export const searchText = (description: string, { minLength = 0 } = {}): TString =>
  Type.String({ minLength, maxLength: maxSearchLength, description });
