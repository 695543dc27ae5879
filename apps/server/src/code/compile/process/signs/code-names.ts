import {
  type Expression,
  isArrowFunction,
  isAsExpression,
  isAwaitExpression,
  isBlock,
  isCallExpression,
  isComputedPropertyName,
  isEnumMember,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSatisfiesExpression,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isVariableDeclaration,
  type Node,
  type ObjectLiteralExpression,
  type TypeNode,
} from 'typescript/unstable/ast';
import { type Project, SymbolFlags } from 'typescript/unstable/sync';

/** Names that stand for names; some stand for themselves. */
const maxDepth = 5;

/** A function that says what a screen is, whichever way it is written. */
export interface Detector {
  parameters: readonly Node[];
  type: TypeNode | undefined;
  body: Node;
}

/** What expressions of the code stand for, through names, files and what is written around them. */
export class CodeNames {
  readonly #checker: Project['checker'];

  constructor(project: Project) {
    this.#checker = project.checker;
  }

  propertyOf(object: ObjectLiteralExpression, name: string): Expression | undefined {
    for (const one of object.properties) {
      if (keyOf(one) !== name) continue;
      if (isPropertyAssignment(one)) return one.initializer;
      if (isShorthandPropertyAssignment(one)) return this.#shorthandValue(one);
    }
    return undefined;
  }

  #shorthandValue(node: Node): Expression | undefined {
    const symbol = this.#checker.getShorthandAssignmentValueSymbol(node);
    const declared = symbol?.declarations[0]?.resolve();
    return declared !== undefined && isVariableDeclaration(declared) ? declared.initializer : undefined;
  }

  /** Through names that stand for it. */
  valueOf(expression: Expression, depth = 0): Expression | undefined {
    const inner = unwrapped(expression);
    if (!isIdentifier(inner)) return inner;
    const declared = this.declarationOf(inner);
    if (depth > maxDepth || declared === undefined || !isVariableDeclaration(declared)) return inner;
    return declared.initializer && this.valueOf(declared.initializer, depth + 1);
  }

  /** An object that is written out, in place or where its name is declared. */
  objectOf(expression: Expression): ObjectLiteralExpression | undefined {
    const value = this.valueOf(expression);
    return value !== undefined && isObjectLiteralExpression(value) ? value : undefined;
  }

  /** A function of the project, through names and arrows that only call it. */
  functionOf(expression: Expression, depth = 0): Detector | undefined {
    const inner = unwrapped(expression);
    const declared =
      isIdentifier(inner) || isPropertyAccessExpression(inner) ? this.declarationOf(inner) : inner;
    const value =
      declared !== undefined && isVariableDeclaration(declared) && declared.initializer !== undefined
        ? unwrapped(declared.initializer)
        : declared;
    if (value === undefined || depth > maxDepth) return undefined;
    if (isArrowFunction(value)) {
      const body = isBlock(value.body) ? value.body : unwrapped(value.body);
      // One that only calls another one.
      if (isCallExpression(body)) return this.functionOf(body.expression, depth + 1);
      return { parameters: value.parameters, type: value.type, body };
    }
    const isFunction =
      isFunctionDeclaration(value) || isFunctionExpression(value) || isMethodDeclaration(value);
    return isFunction && value.body !== undefined
      ? { parameters: value.parameters, type: value.type, body: value.body }
      : undefined;
  }

  /** Where a name is declared, in whatever file. */
  declarationOf(name: Node): Node | undefined {
    const found = this.#checker.getSymbolAtLocation(name);
    if (found === undefined) return undefined;
    const isAlias = (found.flags & SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? this.#checker.getAliasedSymbol(found) : found;
    return symbol.declarations[0]?.resolve();
  }
}

/** The word itself, or the one after the last dot; else empty. */
export const nameOf = (node: Node): string =>
  isPropertyAccessExpression(node) ? node.name.text : isIdentifier(node) ? node.text : '';

/** What a property or a member is called: by its word, its text, or the last part of `[State.Home]`. */
export function keyOf(property: Node): string {
  const isNamed =
    isPropertyAssignment(property) ||
    isShorthandPropertyAssignment(property) ||
    isMethodDeclaration(property) ||
    isEnumMember(property);
  if (!isNamed) return '';
  const { name } = property;
  if (isComputedPropertyName(name)) return nameOf(name.expression);
  return isStringLiteral(name) ? name.text : nameOf(name);
}

/** Without parentheses, types and `await` around it. */
export function unwrapped(expression: Expression): Expression {
  let inner = expression;
  while (
    isParenthesizedExpression(inner) ||
    isAsExpression(inner) ||
    isSatisfiesExpression(inner) ||
    isAwaitExpression(inner)
  )
    inner = inner.expression;
  return inner;
}

export function parameterName(parameter: Node): string {
  const name = 'name' in parameter ? parameter.name : undefined;
  return typeof name === 'object' && name !== null && 'text' in name && typeof name.text === 'string'
    ? name.text
    : '';
}
