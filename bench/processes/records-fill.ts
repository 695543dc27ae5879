import Database from 'better-sqlite3';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { fillDatabase } from '../records/fill-database.ts';

let copy: Database.Database | undefined;

answerParent({
  fill: command(
    Type.Object({ dataDir: Type.String(), token: Type.String(), records: Type.Integer() }),
    fillDatabase,
  ),
  /** Opens a copy of such a database and reads records by primary key. Returns the time per record in ms. */
  readByKey: command(
    Type.Object({ file: Type.String(), ids: Type.Array(Type.String()) }),
    ({ file, ids }) => {
      copy ??= new Database(file);
      const read = copy.prepare<[string]>('SELECT * FROM record WHERE id = ?');
      for (const id of ids) read.get(id);
      const startedAt = performance.now();
      for (const id of ids) if (read.get(id) === undefined) throw new Error(`there is no record ${id}`);
      return (performance.now() - startedAt) / ids.length;
    },
  ),
});
