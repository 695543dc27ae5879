import { sql, type Kysely } from 'kysely';

import { isPostgres } from '../../dialect.ts';

interface Trigger {
  name: string;
  /** Such as `after update of size on project`. */
  on: string;
  /** A condition on `old` and `new`. */
  when?: string;
}

/** For each row that is concerned: a statement with `old` and `new`, or a refusal of what is being done. */
export async function createTrigger(
  db: Kysely<unknown>,
  trigger: Trigger & ({ statement: string } | { refusal: string }),
): Promise<void> {
  const texts = isPostgres(db) ? inPostgres(trigger) : [inSqlite(trigger)];
  for (const text of texts) await sql.raw(text).execute(db);
}

function inSqlite({ name, on, when, ...does }: Parameters<typeof createTrigger>[1]): string {
  const statement = 'refusal' in does ? `select raise(abort, '${does.refusal}')` : does.statement;
  return `create trigger ${name} ${on} ${when === undefined ? '' : `when ${when}`} begin ${statement}; end`;
}

function inPostgres({ name, on, when, ...does }: Parameters<typeof createTrigger>[1]): string[] {
  const statement = 'refusal' in does ? `raise exception '${does.refusal}'` : does.statement;
  return [
    `create function ${name}() returns trigger language plpgsql as
      $$ begin ${statement}; return null; end $$`,
    `create trigger ${name} ${on} for each row ${when === undefined ? '' : `when (${when})`}
      execute function ${name}()`,
  ];
}
