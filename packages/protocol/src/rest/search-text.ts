import { Type, type TString } from 'typebox';

/**
 * In UTF-16 units, of everything that somebody looks for in texts of others. `includes`, `indexOf`, `split` and
 * `replaceAll` take the product of both lengths for such needles as `abaaaa…` in `aaaa…`, from 250 letters on: V8 knows no
 * more of a needle at once, and takes 15 seconds of the event loop for 1,000 letters in 16 MB. So does `LIKE` in databases
 * at any length: see `hasPart` in `storage/db/dialect.ts`. What has to be longer, such as secrets, is looked for by an automaton
 * (`SecretMatcher`).
 */
const maxSearchLength = 200;

/** A text that is searched for, as a query has it. */
export const searchText = (description: string, { minLength = 0 } = {}): TString =>
  Type.String({ minLength, maxLength: maxSearchLength, description });
