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

/** Maximum number of names to follow. Some names refer to themselves. */
const maxDepth = 5;

/** Function that recognises screens, in any syntax. */
export interface Detector {
  parameters: readonly Node[];
  type: TypeNode | undefined;
  body: Node;
}

/** Resolves expressions of the code through names, files and wrappers such as parentheses. */
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

  /** Returns the value of an expression, following the names that refer to it. */
  valueOf(expression: Expression, depth = 0): Expression | undefined {
    const inner = unwrapped(expression);
    if (!isIdentifier(inner)) return inner;
    const declared = this.declarationOf(inner);
    if (depth > maxDepth || declared === undefined || !isVariableDeclaration(declared)) return inner;
    return declared.initializer && this.valueOf(declared.initializer, depth + 1);
  }

  /** Returns the object literal of an expression, inline or at the declaration of its name. */
  objectOf(expression: Expression): ObjectLiteralExpression | undefined {
    const value = this.valueOf(expression);
    return value !== undefined && isObjectLiteralExpression(value) ? value : undefined;
  }

  /** Returns the function of an expression, following names and arrow functions that only call it. */
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
      // Follows an arrow function that only calls another function.
      if (isCallExpression(body)) return this.functionOf(body.expression, depth + 1);
      return { parameters: value.parameters, type: value.type, body };
    }
    const isFunction =
      isFunctionDeclaration(value) || isFunctionExpression(value) || isMethodDeclaration(value);
    return isFunction && value.body !== undefined
      ? { parameters: value.parameters, type: value.type, body: value.body }
      : undefined;
  }

  /** Finds the declaration of a name, in any file. */
  declarationOf(name: Node): Node | undefined {
    const found = this.#checker.getSymbolAtLocation(name);
    if (found === undefined) return undefined;
    const isAlias = (found.flags & SymbolFlags.Alias) !== 0;
    const symbol = isAlias ? this.#checker.getAliasedSymbol(found) : found;
    return symbol.declarations[0]?.resolve();
  }
}

/** Returns the name of an identifier, or the name after the last dot of a property access, or an empty text. */
export const nameOf = (node: Node): string =>
  isPropertyAccessExpression(node) ? node.name.text : isIdentifier(node) ? node.text : '';

/** Returns the name of a property or member: its identifier, its string, or the last part of `[State.Home]`. */
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

/** Removes parentheses, `as`, `satisfies` and `await` around an expression. */
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
