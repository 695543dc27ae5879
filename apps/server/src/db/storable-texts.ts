import { PostgresQueryCompiler } from 'kysely';

/** PostgreSQL has no U+0000 in a text. Halves of surrogate pairs its client writes as U+FFFD, which this becomes too. */
const storable = (value: unknown): unknown => {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  return Array.isArray(value) ? value.map(storable) : value;
};

/** Whoever a text comes from, it can be stored, and is found by the same text. */
export class StorableTexts extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(storable(parameter));
  }
}
