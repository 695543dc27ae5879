import { parseSync, Visitor, type Expression } from 'oxc-parser';
import type { Import } from './import-places.ts';

/**
 * Returns every import of a TypeScript file: static, re-exported, dynamic, of types. `import { type T } from 'x'` still
 * loads x: only a statement that imports nothing but types is erased.
 */
export function readImports(path: string, source: string): readonly Omit<Import, 'from' | 'to'>[] {
  const found: Omit<Import, 'from' | 'to'>[] = [];
  const add = ({ value, start }: { value: string; start: number }, isTypeOnly: boolean): void => {
    found.push({ specifier: value, isTypeOnly, line: source.slice(0, start).split('\n').length });
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
  }).visit(parseSync(path, source).program);
  return found;
}

function constantText(node: Expression): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  const isPlainTemplate = node.type === 'TemplateLiteral' && node.expressions.length === 0;
  return isPlainTemplate ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
}
