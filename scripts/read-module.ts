import { parseSync, Visitor, type Expression, type ImportDeclaration, type Program } from 'oxc-parser';
import type { ProcessUse } from './import-rules.ts';

export interface ModuleFacts {
  readonly imports: readonly { specifier: string; isTypeOnly: boolean; line: number }[];
  readonly processUses: readonly { use: ProcessUse; line: number }[];
  readonly syntaxErrors: readonly string[];
}

/** Reads every import of a TypeScript file (static, re-exported, dynamic, of types) and its uses of `process`. */
export function readModule(path: string, source: string): ModuleFacts {
  const { program, errors } = parseSync(path, source);
  const lineAt = lineCounter(source);
  return {
    imports: importsOf(program).map(({ start, ...rest }) => ({ ...rest, line: lineAt(start) })),
    processUses: processUsesOf(program).map(({ start, use }) => ({ use, line: lineAt(start) })),
    syntaxErrors: errors.map((error) => error.message),
  };
}

interface FoundImport {
  specifier: string;
  isTypeOnly: boolean;
  start: number;
}

/**
 * Returns the imports. `import { type T } from 'x'` still loads x: only a statement that imports nothing but types is
 * erased.
 */
function importsOf(program: Program): FoundImport[] {
  const found: FoundImport[] = [];
  const add = (source: { value: string; start: number }, isTypeOnly: boolean): void => {
    found.push({ specifier: source.value, isTypeOnly, start: source.start });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.importKind === 'type'),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => node.source && add(node.source, node.exportKind === 'type'),
    TSImportType: (node) => add(node.source, true),
    ImportExpression(node) {
      const specifier = constantText(node.source);
      if (specifier !== undefined) add({ value: specifier, start: node.start }, false);
    },
  }).visit(program);
  return found;
}

function constantText(node: Expression): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  const isPlainTemplate = node.type === 'TemplateLiteral' && node.expressions.length === 0;
  return isPlainTemplate ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
}

function processUsesOf(program: Program): { use: ProcessUse; start: number }[] {
  const found: { use: ProcessUse; start: number }[] = [];
  const names = new Set(['process', ...program.body.flatMap(processNamesOf)]);
  const add = (name: string | undefined, start: number): void => {
    if (isProcessUse(name)) found.push({ use: name, start });
  };
  new Visitor({
    ImportDeclaration(node) {
      for (const name of isOfProcess(node) ? importedNames(node) : []) add(name, node.start);
    },
    MemberExpression(node) {
      if (isProcess(node.object, names)) add(memberName(node), node.start);
    },
    VariableDeclarator(node) {
      if (node.id.type !== 'ObjectPattern' || node.init === null || !isProcess(node.init, names)) return;
      for (const property of node.id.properties) {
        if (property.type === 'Property' && property.key.type === 'Identifier')
          add(property.key.name, node.start);
      }
    },
  }).visit(program);
  return found;
}

function isProcessUse(name: string | undefined): name is ProcessUse {
  return name === 'env' || name === 'exit' || name === 'exitCode';
}

/** Whether an expression is `process`, `globalThis.process`, or the name given by `import x from 'node:process'`. */
function isProcess(node: Expression, names: ReadonlySet<string>): boolean {
  if (node.type === 'Identifier') return names.has(node.name);
  return (
    node.type === 'MemberExpression' &&
    node.object.type === 'Identifier' &&
    node.object.name === 'globalThis' &&
    memberName(node) === 'process'
  );
}

function memberName(node: Extract<Expression, { type: 'MemberExpression' }>): string | undefined {
  if (node.computed) return constantText(node.property);
  return node.property.type === 'Identifier' ? node.property.name : undefined;
}

function isOfProcess(node: ImportDeclaration): boolean {
  return node.source.value === 'node:process' || node.source.value === 'process';
}

function processNamesOf(node: Program['body'][number]): string[] {
  if (node.type !== 'ImportDeclaration' || !isOfProcess(node)) return [];
  return node.specifiers.filter((one) => one.type !== 'ImportSpecifier').map((one) => one.local.name);
}

function importedNames(node: ImportDeclaration): string[] {
  return node.specifiers.flatMap((one) =>
    one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' ? [one.imported.name] : [],
  );
}

function lineCounter(source: string): (offset: number) => number {
  return (offset) => source.slice(0, offset).split('\n').length;
}
