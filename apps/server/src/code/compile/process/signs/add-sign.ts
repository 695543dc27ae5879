import { type SignCondition, writeSign, writeSignTest } from '@phalanx/automation/screen-signs';
import {
  type CallExpression,
  type ConditionalExpression,
  type Expression,
  isArrayLiteralExpression,
  isBlock,
  isCallExpression,
  isComputedPropertyName,
  isConditionalExpression,
  isEnumDeclaration,
  isIdentifier,
  isLiteralTypeNode,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isStringLiteral,
  isTypeAliasDeclaration,
  isTypeReferenceNode,
  isUnionTypeNode,
  isVariableDeclaration,
  type Node,
  type ObjectLiteralExpression,
  type SourceFile,
  type TypeNode,
} from 'typescript/unstable/ast';
import type { Project } from 'typescript/unstable/sync';

import { CodeNames, type Detector, keyOf, nameOf, parameterName, unwrapped } from './code-names.ts';
import { indentAt, inLines, insertBefore, type Insertion, insertLast } from './code-insertions.ts';

/** Screen that the changed code must recognise. */
export interface Addition {
  name: string;
  kind: 'state' | 'dialog';
  sign: readonly SignCondition[];
  /** Button that closes a dialog. */
  button: SignCondition | null;
  /** State that the code currently assigns to the screens, or empty. */
  claimedBy: string;
  /** Next stage of the runs that met the screens. */
  stage: string;
}

/** Maximum number of type aliases to follow. Some aliases refer to themselves. */
const maxAliases = 5;

/** Error when there is no place for an addition. The message is a sentence for the caller. */
export class NoPlace extends Error {}

interface Code {
  project: Project;
  /** Whether a file belongs to the project, so that it may be changed. */
  isOwn: (source: SourceFile) => boolean;
}

/** Finds the insertions that add the sign to the sources. Throws `NoPlace`. */
export function findInsertions(code: Code, sources: readonly SourceFile[], addition: Addition): Insertion[] {
  const calls = sources.flatMap(listCalls);
  const plans = plansOf(calls, addition.stage);
  const stores = calls.filter(({ expression }) => nameOf(expression) === 'storeScreen');
  const finder = new PlaceFinder(new CodeNames(code.project), addition);
  const found =
    addition.kind === 'dialog'
      ? only(plans, 'runStages').flatMap((plan) => finder.inDialogs(plan))
      : plans.length > 0
        ? only(plans, 'runStages').flatMap((plan) => finder.inPlan(plan))
        : finder.inStored(only(stores, 'storeScreen'));
  const foreign = found.find(({ source }) => !code.isOwn(source));
  if (foreign !== undefined) throw new NoPlace('The code to change is not in a file of the project.');
  return found;
}

/** Lists the calls of `runStages`, or the one call that names the stage, if exactly one does. */
function plansOf(calls: readonly CallExpression[], stage: string): CallExpression[] {
  const plans = calls.filter(({ expression }) => isIdentifier(expression) && expression.text === 'runStages');
  const named = plans.filter((plan) => plan.getText().includes(stage));
  return named.length === 1 ? named : plans;
}

function only(calls: readonly CallExpression[], name: string): readonly CallExpression[] {
  if (calls.length === 0) throw new NoPlace(`No file calls ${name}.`);
  if (calls.length > 1 && name === 'runStages')
    throw new NoPlace(
      'runStages is called in several places, so the call that meets the screen is not known.',
    );
  return calls;
}

/** Lists the calls without recursion, because code may be nested deeply. */
function listCalls(source: SourceFile): CallExpression[] {
  const calls: CallExpression[] = [];
  const waiting: Node[] = [source];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isCallExpression(node)) calls.push(node);
    node.forEachChild((child) => void waiting.push(child));
  }
  return calls.toSorted((one, other) => one.pos - other.pos);
}

class PlaceFinder {
  readonly #names: CodeNames;
  readonly #addition: Addition;

  constructor(names: CodeNames, addition: Addition) {
    this.#names = names;
    this.#addition = addition;
  }

  /** Adds to `states` of `runStages`, whether it is an object or a function. */
  inPlan(call: CallExpression): Insertion[] {
    const plan = this.#planOf(call);
    const states = this.#names.propertyOf(plan, 'states');
    const table = states && this.#names.objectOf(states);
    if (table !== undefined) return this.#inTable(table, call);
    const detector = states && this.#names.functionOf(states);
    if (detector === undefined)
      throw new NoPlace('`states` is neither an object nor a function of the project.');
    return this.#inDetector(detector);
  }

  inDialogs(call: CallExpression): Insertion[] {
    const plan = this.#planOf(call);
    const source = plan.getSourceFile();
    const dialogs = this.#names.propertyOf(plan, 'dialogs');
    if (dialogs === undefined) {
      const entry = `dialogs: [\n  ${inLines(this.#dialog(this.#quotedName()), '  ')},\n]`;
      const at = plan.properties.findIndex((one) => keyOf(one) === 'states');
      const next = plan.properties[at + 1];
      const placed =
        next === undefined
          ? insertLast(source, plan.properties, entry)
          : insertBefore(source, next, `${entry},`);
      return placed === undefined ? [] : [placed];
    }
    const list = unwrapped(dialogs);
    if (!isArrayLiteralExpression(list)) throw new NoPlace('`dialogs` is not an array literal.');
    const [value, ...more] = this.#nameAs(nameInFirst(list.elements[0]));
    const entry = this.#dialog(value);
    const at = list.getStart(list.getSourceFile()) + 1;
    const first = {
      source: list.getSourceFile(),
      at,
      text: inLines(`\n  ${entry},\n`, indentAt(list.getSourceFile(), at)),
    };
    return [insertLast(list.getSourceFile(), list.elements, entry) ?? first, ...more];
  }

  /** Adds to the code that determines the state of stored screens. */
  inStored(calls: readonly CallExpression[]): Insertion[] {
    for (const call of calls) {
      const [screen, , state] = call.arguments;
      const value = state && this.#names.valueOf(state);
      if (value === undefined || screen === undefined) continue;
      if (isConditionalExpression(value)) return this.#inChain(value, screen);
      const detector = isCallExpression(value) ? this.#names.functionOf(value.expression) : undefined;
      if (detector !== undefined) return this.#inDetector(detector);
    }
    throw new NoPlace('No function was found that returns the state of stored screens.');
  }

  #inTable(table: ObjectLiteralExpression, call: CallExpression): Insertion[] {
    const { name, claimedBy, sign } = this.#addition;
    const source = table.getSourceFile();
    const keys = table.properties.map((one) => keyOf(one));
    if (keys.includes(name)) throw new NoPlace(`\`states\` already has ${name}: add the sign to it by hand.`);
    const [first] = table.properties;
    const firstName = first !== undefined && isPropertyAssignment(first) ? first.name : undefined;
    const isComputed = firstName !== undefined && isComputedPropertyName(firstName);
    const [key, ...more] = isComputed ? this.#nameAs(firstName.expression) : [name];
    const [type] = call.typeArguments ?? [];
    const typed = isComputed || type === undefined ? [] : this.#extendType(type);
    const entry = `${isComputed ? `[${key}]` : key}: ${writeSign(sign)}`;
    const claimed = table.properties[keys.indexOf(claimedBy)];
    const placed =
      claimed === undefined
        ? insertLast(source, table.properties, entry)
        : insertBefore(source, claimed, `${entry},`);
    if (placed === undefined) throw new NoPlace('`states` is empty.');
    return [placed, ...more, ...typed];
  }

  #inDetector({ parameters, type, body }: Detector): Insertion[] {
    const screen = parameters[0] === undefined ? '' : parameterName(parameters[0]);
    if (screen === '') throw new NoPlace('The function that recognises screens has no screen parameter.');
    if (isConditionalExpression(body)) return this.#chainFor(body, screen, type);
    const last = isBlock(body) ? body.statements.at(-1) : undefined;
    if (!isBlock(body) || last === undefined || !isReturnStatement(last) || last.expression === undefined)
      throw new NoPlace('The function that recognises screens does not end with a return.');
    const end = unwrapped(last.expression);
    if (isConditionalExpression(end)) return this.#chainFor(end, screen, type);
    const [value, ...more] = this.#valueAs(end, type);
    const test = writeSignTest(this.#addition.sign, screen);
    const isClaimed = this.#addition.claimedBy !== '';
    const before = (isClaimed ? body.statements[0] : undefined) ?? last;
    return [insertBefore(body.getSourceFile(), before, `if (${test}) return ${value};`), ...more];
  }

  #inChain(chain: ConditionalExpression, screen: Expression): Insertion[] {
    if (!isIdentifier(screen)) throw new NoPlace('The stored screen has no name.');
    return this.#chainFor(chain, screen.text, undefined);
  }

  /**
   * Adds the last condition of `a ? b : c ? d : e`, or the first one when the code currently assigns the screens to
   * another state.
   */
  #chainFor(chain: ConditionalExpression, screen: string, type: TypeNode | undefined): Insertion[] {
    let end: Expression = chain.whenFalse;
    while (isConditionalExpression(end)) end = end.whenFalse;
    const [value, ...more] = this.#valueAs(end, type);
    const test = writeSignTest(this.#addition.sign, screen);
    const place = this.#addition.claimedBy === '' ? end : chain;
    const source = chain.getSourceFile();
    return [{ source, at: place.getStart(source), text: `${test} ? ${value} : ` }, ...more];
  }

  #dialog(name: string): string {
    const { sign, button } = this.#addition;
    const press = button === null ? '() => agent.actions.back()' : `(screen) => ${find(button)}?.tap()`;
    return `{\n  name: ${name},\n  when: ${writeSign(sign)},\n  do: ${press},\n}`;
  }

  #quotedName(): string {
    return `'${this.#addition.name}'`;
  }

  /** Writes the name in the form of a sibling value. Adds the declarations that the name needs. */
  #valueAs(sibling: Expression, type: TypeNode | undefined): [string, ...Insertion[]] {
    if (isPropertyAccessExpression(sibling)) return this.#nameAs(sibling);
    if (isStringLiteral(sibling) || isNoSubstitutionTemplateLiteral(sibling))
      return [this.#quotedName(), ...(type === undefined ? [] : this.#extendType(type))];
    throw new NoPlace(
      'The code identifies other screens by values that are neither enum members nor strings.',
    );
  }

  #nameAs(sibling: Node | undefined): [string, ...Insertion[]] {
    if (sibling === undefined || !isPropertyAccessExpression(sibling)) return [this.#quotedName()];
    const { name } = this.#addition;
    const owner = this.#names.declarationOf(sibling.expression);
    const value = `${sibling.expression.getText()}.${name}`;
    const added = owner && this.#addMember(owner);
    if (added === undefined) throw new NoPlace(`The declaration of ${sibling.getText()} was not found.`);
    return [value, ...added];
  }

  /** Adds a member to an enum, or to an object that is used as one. Undefined when the declaration is neither. */
  #addMember(owner: Node): Insertion[] | undefined {
    const { name } = this.#addition;
    if (isEnumDeclaration(owner)) {
      if (owner.members.some((member) => keyOf(member) === name)) return [];
      const { initializer } = owner.members.at(-1) ?? {};
      const isText = initializer !== undefined && isStringLiteral(initializer);
      return present(insertLast(owner.getSourceFile(), owner.members, isText ? `${name} = '${name}'` : name));
    }
    const table =
      isVariableDeclaration(owner) && owner.initializer ? this.#names.objectOf(owner.initializer) : undefined;
    if (table === undefined) return undefined;
    if (table.properties.some((one) => keyOf(one) === name)) return [];
    return present(insertLast(table.getSourceFile(), table.properties, `${name}: '${name}'`));
  }

  /** Adds the name to a type: an enum, or a union of string literals. Leaves other types unchanged. */
  #extendType(type: TypeNode, depth = 0): Insertion[] {
    if (isUnionTypeNode(type)) return this.#extendUnion(type, type.types);
    if (isLiteralTypeNode(type)) return this.#extendUnion(type, [type]);
    if (!isTypeReferenceNode(type)) return [];
    const declared = this.#names.declarationOf(type.typeName);
    if (declared === undefined || depth > maxAliases) return [];
    if (isTypeAliasDeclaration(declared)) return this.#extendType(declared.type, depth + 1);
    return this.#addMember(declared) ?? [];
  }

  #extendUnion(union: TypeNode, members: readonly TypeNode[]): Insertion[] {
    const quoted = this.#quotedName();
    if (members.some((member) => member.getText().slice(1, -1) === this.#addition.name)) return [];
    const source = union.getSourceFile();
    const last = members.at(-1) ?? union;
    const start = last.getStart(source);
    const isAlone = /\n[ \t]*\|?[ \t]*$/.test(source.text.slice(0, start)) && members.length > 1;
    const text = isAlone ? `\n${indentAt(source, start)}| ${quoted}` : ` | ${quoted}`;
    return [{ source, at: last.end, text }];
  }

  #planOf(call: CallExpression): ObjectLiteralExpression {
    const [argument] = call.arguments;
    const plan = argument && this.#names.objectOf(argument);
    if (plan === undefined) throw new NoPlace('The argument of runStages is not an object literal.');
    return plan;
  }
}

const present = (insertion: Insertion | undefined): Insertion[] | undefined =>
  insertion === undefined ? undefined : [insertion];

const find = (button: SignCondition): string => writeSignTest([button], 'screen');

/** Finds the expression of a dialog's name. */
function nameInFirst(dialog: Node | undefined): Node | undefined {
  if (dialog === undefined || !isObjectLiteralExpression(dialog)) return undefined;
  for (const one of dialog.properties)
    if (isPropertyAssignment(one) && nameOf(one.name) === 'name') return one.initializer;
  return undefined;
}
