import type { CodeCompletion, CodeSymbol, CodePlace, CodeReferences } from '@phalanx/protocol';
import {
  isFunctionTypeNode,
  SyntaxKind,
  getTokenPosOfNode,
  getTouchingPropertyName,
  isIdentifier,
  type Node,
} from 'typescript/unstable/ast';
import {
  CompletionItemKind,
  SignatureKind,
  SymbolFlags,
  type Project,
  type Signature,
  type Symbol,
} from 'typescript/unstable/sync';

import { nothingFound } from './messages.ts';

/** Maximum length of a type or text, in UTF-16 units. Longer ones are unreadable in an editor. */
const maxLength = 2_000;
const maxSignatures = 10;
const maxCompletions = 1_000;
/** Number of completions that also have a type and documentation. */
const maxDescribed = 100;

const maxReferences = 1_000;

interface Place {
  readonly project: Project;
  readonly file: string;
  readonly position: number;
  /** Removes internal details, such as paths, from a text for users. */
  readonly show: (text: string) => string;
}

const shown = ({ show }: Place, text: string): string => show(text).slice(0, maxLength);

/** Describes the symbol at the cursor or directly before it. */
export function describeSymbol(place: Place): CodeSymbol | null {
  const { file, position } = place;
  const { checker } = place.project;
  const found = checker.getSymbolAtPosition(file, position);
  if (found === undefined || isWholeFile(found)) return null;
  const type = checker.getTypeAtPosition(file, position) ?? checker.getTypeOfSymbol(found);
  if (type === undefined) return null;
  const signatures = checker.getSignaturesOfType(type, SignatureKind.Call).slice(0, maxSignatures);
  return {
    name: shown(place, found.name),
    type: shown(place, checker.typeToString(type)),
    documentation: documentationOf(place, found),
    signatures: signatures.flatMap((signature) => describeSignature(place, signature) ?? []),
  };
}

/** Whether a symbol is the module itself, which the checker returns for a place without another symbol. */
const isWholeFile = ({ name, flags }: Symbol): boolean =>
  (flags & SymbolFlags.ValueModule) !== 0 && name.startsWith('"');

function documentationOf(place: Place, symbol: Symbol): string {
  const { checker } = place.project;
  const isAlias = (symbol.flags & SymbolFlags.Alias) !== 0;
  return shown(
    place,
    checker.getDocumentationCommentOfSymbol(isAlias ? checker.getAliasedSymbol(symbol) : symbol),
  );
}

function describeSignature(place: Place, signature: Signature): CodeSymbol['signatures'][number] | undefined {
  const { checker, emitter } = place.project;
  const declared = checker.signatureToSignatureDeclaration(signature, SyntaxKind.FunctionType);
  if (declared === undefined || !isFunctionTypeNode(declared)) return undefined;
  const parameters = declared.parameters.map((parameter) => withoutUndefined(emitter.printNode(parameter)));
  return {
    parameters: parameters.map((text) => shown(place, text)),
    returns: declared.type === undefined ? '' : shown(place, emitter.printNode(declared.type)),
  };
}

/** Removes `| undefined` from an optional parameter, because the question mark already implies it. */
const withoutUndefined = (parameter: string): string =>
  parameter.replace(/^(\w+\?: .*) \| undefined$/s, '$1');

/**
 * Lists completions at a place. Falls back to the globals where the checker can't complete, such as for a bare name.
 */
export function listCompletions(place: Place, globals: readonly string[]): CodeCompletion[] {
  const entries = readEntries(place);
  if (entries === undefined)
    return globals.map((name) => ({ name, kind: 'variable', type: '', documentation: '' }));
  return entries.slice(0, maxCompletions).map(({ name, kind = CompletionItemKind.Text, symbol }, index) => ({
    name: shown(place, name),
    kind: kindWords[kind] ?? 'text',
    ...(symbol === undefined || index >= maxDescribed
      ? { type: '', documentation: '' }
      : { type: typeOf(place, symbol), documentation: documentationOf(place, symbol) }),
  }));
}

/**
 * Reads the checker's completions. Undefined where this version of the checker throws because it would have to search
 * all modules.
 */
function readEntries({ project: { checker }, file, position }: Place) {
  try {
    return checker.getCompletionsAtPosition(file, position, { includeSymbol: true })?.entries ?? [];
  } catch (error) {
    if (error instanceof Error && error.message.includes('needs auto imports')) return undefined;
    throw error;
  }
}

function typeOf(place: Place, symbol: Symbol): string {
  const { checker } = place.project;
  const type = checker.getTypeOfSymbol(symbol);
  return type === undefined ? '' : shown(place, checker.typeToString(type));
}

const kindWords: Record<number, CodeCompletion['kind']> = {
  [CompletionItemKind.Method]: 'method',
  [CompletionItemKind.Function]: 'function',
  [CompletionItemKind.Field]: 'property',
  [CompletionItemKind.Property]: 'property',
  [CompletionItemKind.Variable]: 'variable',
  [CompletionItemKind.Class]: 'class',
  [CompletionItemKind.Interface]: 'interface',
  [CompletionItemKind.Enum]: 'enum',
  [CompletionItemKind.Keyword]: 'keyword',
  [CompletionItemKind.EnumMember]: 'constant',
  [CompletionItemKind.Constant]: 'constant',
};

/** Finds the definition and the references of the name at a place, in files below `root`. */
export function findReferences({ project, file, position }: Place, root: string): CodeReferences {
  const source = project.program.getSourceFile(file);
  const name = source === undefined ? undefined : getTouchingPropertyName(source, position);
  if (name === undefined || !isIdentifier(name)) return nothingFound.references;
  const places = new Map<string, CodePlace>();
  const definitions: (CodePlace | undefined)[] = [];
  for (const entry of project.checker.getReferencedSymbolsForNode(name, position)) {
    definitions.push(placeOf(entry.definition.resolve(), root));
    for (const handle of entry.references.slice(0, maxReferences - places.size)) {
      const place = placeOf(handle.resolve(), root);
      if (place !== undefined) places.set(`${place.path}:${place.start}`, place);
    }
  }
  // Takes the last symbol, which for an import is the imported one.
  const definition = definitions.findLast((place) => place !== undefined) ?? null;
  return { definition, references: [...places.values()] };
}

function placeOf(node: Node | undefined, root: string): CodePlace | undefined {
  const source = node?.getSourceFile();
  if (node === undefined || source?.fileName.startsWith(`${root}/`) !== true) return undefined;
  return {
    path: source.fileName.slice(root.length + 1),
    start: getTokenPosOfNode(node, source),
    end: node.end,
  };
}
