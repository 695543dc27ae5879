import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { parseSync, type TSType, type TSSignature } from 'oxc-parser';
import { beforeAll, describe, expect, it } from 'vitest';
import { engines, openTestDatabase, type Engine } from '../../../testing/engines/test-database.ts';
import type { Db } from './tables.ts';

/** Column as declared in an interface, or as found in a database. */
interface Column {
  readonly isNullable: boolean;
  /** Whether the database has a value for a row that is inserted without one. */
  readonly isGenerated: boolean;
}
type Tables = Map<string, Map<string, Column>>;

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('tables.ts'));
const modules = files.map((name) => {
  const source = readFileSync(path.join(import.meta.dirname, name), 'utf8');
  return { source, program: parseSync(name, source).program };
});

/** Members of the interfaces of this folder, by their names. */
const interfaces = new Map<string, readonly TSSignature[]>();
for (const { program } of modules)
  for (const statement of program.body) {
    const declared = 'declaration' in statement ? statement.declaration : statement;
    if (declared?.type === 'TSInterfaceDeclaration') interfaces.set(declared.id.name, declared.body.body);
  }

function lastNameOf(type: TSType): string | undefined {
  if (type.type !== 'TSTypeReference') return undefined;
  const { typeName } = type;
  if (typeName.type === 'Identifier') return typeName.name;
  return typeName.type === 'TSQualifiedName' ? typeName.right.name : undefined;
}

function columnOf(type: TSType): Column {
  const isGenerated = lastNameOf(type) === 'Generated';
  const inner = isGenerated && type.type === 'TSTypeReference' ? type.typeArguments?.params[0] : type;
  const parts = inner?.type === 'TSUnionType' ? inner.types : [];
  return { isGenerated, isNullable: parts.some((part) => part.type === 'TSNullKeyword') };
}

function mapMembers<Value>(
  members: readonly TSSignature[],
  map: (type: TSType, name: string) => Value,
): Map<string, Value> {
  const mapped = new Map<string, Value>();
  for (const member of members) {
    if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier') continue;
    const type = member.typeAnnotation?.typeAnnotation;
    if (type !== undefined) mapped.set(member.key.name, map(type, member.key.name));
  }
  return mapped;
}

const declared: Tables = mapMembers(interfaces.get('Database') ?? [], (type, table) => {
  const members = type.type === 'TSTypeLiteral' ? type.members : interfaces.get(lastNameOf(type) ?? '');
  if (members === undefined) throw new Error(`The columns of ${table} are not declared in this folder`);
  return mapMembers(members, columnOf);
});

async function readTables(db: Db, engine: Engine): Promise<Tables> {
  const { rows } =
    engine === 'SQLite'
      ? await sql<Found>`SELECT m.name AS "table", c.name, c."notnull" = 0 AND c.pk = 0 AS nullable,
          c.dflt_value IS NOT NULL OR (c.pk = 1 AND lower(c.type) = 'integer') AS generated
          FROM sqlite_master m, pragma_table_info(m.name) c
          WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`.execute(db)
      : await sql<Found>`SELECT table_name AS "table", column_name AS name, (is_nullable = 'YES')::int AS nullable,
          (column_default IS NOT NULL OR is_identity = 'YES')::int AS generated
          FROM information_schema.columns WHERE table_schema = 'public'`.execute(db);
  const tables: Tables = new Map();
  for (const { table, name, nullable, generated } of rows) {
    const columns = tables.get(table) ?? new Map<string, Column>();
    columns.set(name, { isNullable: Number(nullable) === 1, isGenerated: Number(generated) === 1 });
    tables.set(table, columns);
  }
  return tables;
}

interface Found {
  readonly table: string;
  readonly name: string;
  readonly nullable: number;
  readonly generated: number;
}

describe.each(engines)('the tables of %s', (engine) => {
  let stored: Tables;
  beforeAll(async () => {
    stored = await readTables(await openTestDatabase(engine), engine);
  });

  it('are those that are declared', () => {
    const ofEngine = engine === 'SQLite' ? ['log_table'] : [];
    const names = [...declared.keys()].filter((table) => !ofEngine.includes(table));
    const found = [...stored.keys()].filter((table) => !/^kysely_|^log_\d+$/.test(table));
    expect(found.toSorted()).toEqual(names.toSorted());
  });

  it('have the columns that are declared', () => {
    for (const [table, columns] of stored) {
      const types = declared.get(table);
      if (types === undefined) continue;
      const nullable = (all: ReadonlyMap<string, Column>): Record<string, boolean> =>
        Object.fromEntries([...all].map(([name, { isNullable }]) => [name, isNullable]));
      expect.soft(nullable(columns), `nullable columns of ${table}`).toEqual(nullable(types));
      for (const [name, { isGenerated }] of types) {
        const column = columns.get(name);
        const hasValue = column === undefined || column.isGenerated || column.isNullable;
        expect.soft(hasValue || !isGenerated, `${table}.${name} without a value`).toBe(true);
      }
    }
  });
});
