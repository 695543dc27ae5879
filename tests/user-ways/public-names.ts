import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, type Expression, type PropertyKey, type Statement, type TSType } from 'oxc-parser';

const folder = fileURLToPath(new URL('../../packages/automation/src/types', import.meta.url));

/** Returns all public names that the declarations of the runtime contain: globals, and `Type.member` for members. */
export function listPublicNames(): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.d.ts'));
  const statements = files.flatMap(
    (name) => parseSync(name, readFileSync(path.join(folder, name), 'utf8')).program.body,
  );
  return [...new Set(statements.flatMap(namesOf))].sort();
}

type Member = { type: string; key?: PropertyKey | Expression; accessibility?: string | null };

function namesOf(statement: Statement): string[] {
  if (statement.type === 'TSInterfaceDeclaration') return membersOf(statement.id.name, statement.body.body);
  if (statement.type === 'TSDeclareFunction') return statement.id === null ? [] : [statement.id.name];
  if (statement.type === 'ClassDeclaration' && statement.id !== null)
    return [statement.id.name, ...membersOf(statement.id.name, statement.body.body)];
  if (statement.type !== 'VariableDeclaration') return [];
  return statement.declarations.flatMap(({ id }) =>
    id.type === 'Identifier' ? [id.name, ...literalMembers(id.name, id.typeAnnotation?.typeAnnotation)] : [],
  );
}

const literalMembers = (name: string, type: TSType | undefined): string[] =>
  type?.type === 'TSTypeLiteral' ? membersOf(name, type.members) : [];

const membersOf = (name: string, members: readonly Member[]): string[] =>
  members.flatMap((member) => {
    const key = member.accessibility === 'private' ? undefined : keyOf(member.key);
    return key === undefined || key === 'constructor' ? [] : [`${name}.${key}`];
  });

/** Returns the name of a member; for `[Symbol.iterator]` the words in brackets. */
function keyOf(key: Member['key']): string | undefined {
  if (key?.type === 'Identifier') return key.name;
  return key?.type === 'MemberExpression' && key.property.type === 'Identifier'
    ? `Symbol.${key.property.name}`
    : undefined;
}
