/** Tables with a JSON value per key. */
const jsonTables = ['run', 'record', 'run_file', 'phone_history', 'known_phone', 'earlier_settings'] as const;
export type JsonTableName = (typeof jsonTables)[number];

/** Statements that create the tables of a host. */
export const tables = [
  ...jsonTables.map(
    (name) => `CREATE TABLE IF NOT EXISTS ${name} (key TEXT PRIMARY KEY, value TEXT NOT NULL)`,
  ),
  `CREATE TABLE IF NOT EXISTS log_chunk (
    run_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    entries TEXT NOT NULL,
    PRIMARY KEY (run_id, first_seq)
  )`,
];
