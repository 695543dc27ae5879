import { Type, type TString } from 'typebox';

/**
 * Maximum length, in UTF-16 units, of a text that a user searches for in texts of other users. `includes`, `indexOf`,
 * `split` and `replaceAll` take time proportional to the product of both lengths for needles such as `abaaaa…` in
 * `aaaa…`, from 250 characters on: V8 analyzes no more of a needle at once, and blocks the event loop for 15 seconds
 * with a needle of 1,000 characters in 16 MB. `LIKE` in databases does so at any length: see `hasPart` in
 * `storage/db/dialect.ts`. Longer texts, such as secrets, are found by an automaton (`SecretMatcher`).
 */
const maxSearchLength = 200;

/** Returns the schema of a search text in a query. */
export const searchText = (description: string, { minLength = 0 } = {}): TString =>
  Type.String({ minLength, maxLength: maxSearchLength, description });
