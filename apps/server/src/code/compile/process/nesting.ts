import jsTokens, { type JSXToken, type Token } from 'js-tokens';

import { findExcess, jsonBounds } from '../../../http/requests/bodies/json-bounds.ts';
import { createPlaceFinder, errorLine } from '../error-lines.ts';
import { isTypeScript } from '../source-paths.ts';

/** Maximum nesting depth of brackets, templates and elements. Minified code reaches about a hundred. */
const maxDepth = 500;
/** Maximum number of operators and statements nested without brackets, such as `a ? b : c ? d : …` or `else if`. */
const maxChain = 5000;
/** Error number of the checker for types that are too complex. */
const tooComplex = 2589;

/**
 * Returns an error line for a source that is nested too deeply for the checker and the emitter. Takes linear time.
 * Without this check, 40,000 levels of arrays, calls or conditionals use up the 10 s of CPU time and end in an error
 * without a place, 2.5 million levels crash the process twice, and bundles pass 40,000 levels on to phones.
 */
export function findNestingProblem(path: string, text: string): string | undefined {
  if (path.endsWith('.json')) {
    const excess = findExcess(Buffer.from(text), jsonBounds.file);
    return excess === undefined ? undefined : errorLine(path, undefined, tooComplex, `The file ${excess}.`);
  }
  if (!isCode(path) || isShallow(text)) return undefined;
  const found = findTooDeep(text, path.endsWith('x'));
  if (found === undefined) return undefined;
  const place = createPlaceFinder(text)(found.offset);
  return errorLine(path, place, tooComplex, found.text);
}

/** Files of the warm projects that are nested too deeply. */
export class TooDeepFiles {
  readonly #byRoot = new Map<string, Map<string, string>>();

  /** Records a file if it is nested too deeply. Returns whether it is. */
  note(root: string, path: string, text: string): boolean {
    this.drop(root, path);
    const problem = findNestingProblem(path, text);
    if (problem === undefined) return false;
    const files = this.#byRoot.get(root) ?? new Map<string, string>();
    this.#byRoot.set(root, files.set(path, problem));
    return true;
  }

  drop(root: string, path: string): void {
    this.#byRoot.get(root)?.delete(path);
  }

  forget(root: string): void {
    this.#byRoot.delete(root);
  }

  /** Lists the error lines of one file, or of the whole project. */
  list(root: string, path: string | undefined): string[] {
    const files = this.#byRoot.get(root);
    if (path === undefined) return [...(files?.values() ?? [])];
    const problem = files?.get(path);
    return problem === undefined ? [] : [problem];
  }
}

const isCode = (path: string): boolean => isTypeScript(path) || /\.(?:[mc]?js|jsx)$/.test(path);

/** Set of ASCII characters as a lookup table, because every character of every source is looked up. */
class Letters {
  readonly #isOne = new Uint8Array(128);

  constructor(letters: string) {
    for (const letter of letters) this.#isOne[letter.charCodeAt(0)] = 1;
  }

  has(code: number): boolean {
    return this.#isOne[code] === 1;
  }
}

const openers = new Letters('([{');
const closers = new Letters(')]}');
const quotes = new Letters('"\'');
/**
 * Characters that may begin a template, a comment, a regular expression, an element or type arguments. Only tokenising
 * can distinguish them.
 */
const ambiguous = new Letters('/`<');
const operators = new Letters('?=!~+-*');
const plain = new Letters(' \n,.0123456789abcdefghijklmnopqrstuvwxyz');
const signs = new Letters('+-');
const words =
  /\b(?:if|else|for|while|do|with|typeof|void|delete|new|await|yield|keyof|infer|readonly)\b|:\s*\w+\s*:/g;
const [newLine, slash, backslash] = [10, 47, 92];

/**
 * Whether a source is short or plain data, so that it need not be tokenised. Tokenising takes a hundred times as long.
 */
function isShallow(text: string): boolean {
  let [depth, found] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (plain.has(code)) continue;
    const comment = code === slash ? endOfComment(text, at) : undefined;
    if (comment !== undefined) at = comment;
    else if (ambiguous.has(code)) return isShort(text);
    else if (openers.has(code)) depth += 1;
    else if (closers.has(code)) depth = Math.max(0, depth - 1);
    else if (quotes.has(code)) at = endOfText(text, at);
    else if (operators.has(code) && !(signs.has(code) && isDigit(text.charCodeAt(at + 1)))) found += 1;
    if (depth > maxDepth || found > maxDepth) return isShort(text);
  }
  return found + countWords(text) <= maxDepth;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Finds the end of a quoted string. An unterminated string ends with its line. */
function endOfText(text: string, from: number): number {
  const quote = text.charCodeAt(from);
  let at = from + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== quote && code !== newLine;) {
    at += code === backslash ? 2 : 1;
    code = text.charCodeAt(at);
  }
  return at;
}

/** Finds the end of a comment. Undefined when no comment begins there. */
function endOfComment(text: string, from: number): number | undefined {
  const end = text.startsWith('//', from) ? '\n' : text.startsWith('/*', from) ? '*/' : undefined;
  if (end === undefined) return undefined;
  const found = text.indexOf(end, from + 2);
  return found === -1 ? text.length : found + end.length - 1;
}

/** Whether a text has too few brackets, operators and keywords to be nested too deeply. */
function isShort(text: string): boolean {
  let count = 0;
  for (let at = 0; at < text.length && count <= maxDepth; at += 1) {
    const code = text.charCodeAt(at);
    if (openers.has(code) || ambiguous.has(code) || operators.has(code)) count += 1;
  }
  return count <= maxDepth && count + countWords(text) <= maxDepth;
}

function countWords(text: string): number {
  let count = 0;
  for (const { length } of text.matchAll(words)) {
    count += Math.sign(length);
    if (count > maxDepth) break;
  }
  return count;
}

type AnyToken = Token | JSXToken;

interface Level {
  chain: number;
  /** Open type arguments, or comparisons: both are written with `<`. */
  angles: number;
  /** Whether the level is the head of a statement, such as `if (…)`. */
  readonly isHead: boolean;
}

/** Keywords of statements whose body is another statement. */
const heads = new Set(['if', 'for', 'while', 'with']);
/** Words that precede an operand, which may be on the next line. */
const prefixWords = new Set(
  'if else for while do with typeof void delete new await yield keyof infer readonly unique asserts'.split(
    ' ',
  ),
);
/** Words that continue the preceding code, which may be on the previous line. */
const joiningWords = new Set('else catch finally in of instanceof as satisfies is extends'.split(' '));
const prefixes = new Set(['!', '~', '+', '-', '++', '--']);
const assignment = /^(?:=|\*\*|.*[^=!<>]=|<<=|>>=|>>>=)$/;

const isOperator = (value: string, isPrefix: boolean): boolean =>
  value === '?' || value === '=>' || (prefixes.has(value) ? isPrefix : assignment.test(value));

/** Tracks the nesting depth through the tokens of a source. */
class Nesting {
  #levels: Level[] = [{ chain: 0, angles: 0, isHead: false }];
  #elements = 0;
  #before = '';
  #last: AnyToken['type'] | undefined;
  #value = '';
  /** Whether the preceding tokens form a complete operand. A new line after an operand begins a new statement. */
  #endsOperand = false;
  #hasEnded = false;
  #isNewLine = false;

  /** Processes a token. Returns the problem when the code is nested too deeply there. */
  take(token: AnyToken): string | undefined {
    if (token.type === 'WhiteSpace' || token.type.endsWith('Comment')) return undefined;
    if (token.type === 'LineTerminatorSequence') {
      this.#isNewLine = true;
      return undefined;
    }
    this.#endStatement(token);
    this.#count(token);
    this.#before = this.#value;
    this.#last = token.type;
    this.#value = token.value;
    this.#isNewLine = false;
    const level = this.#top();
    if (this.#levels.length + this.#elements > maxDepth)
      return `The code is nested more than ${maxDepth} levels deep. Move parts of it into functions or variables.`;
    if (level.chain + level.angles > maxChain)
      return `More than ${maxChain} operators or statements are nested in one another. Move parts of them into functions or variables.`;
    return undefined;
  }

  #top(): Level {
    return this.#levels.at(-1) ?? { chain: 0, angles: 0, isHead: false };
  }

  #endStatement({ type, value }: AnyToken): void {
    const isWord = type === 'IdentifierName' || type === 'PrivateIdentifier';
    const isOperand = isWord || type === 'NumericLiteral' || type === 'StringLiteral';
    const joins = joiningWords.has(value);
    const isNew =
      this.#hasEnded || (this.#endsOperand && isOperand && (this.#isNewLine || this.#value === '}'));
    this.#hasEnded = false;
    if (isNew && !joins) Object.assign(this.#top(), { chain: 0, angles: 0 });
  }

  #count(token: AnyToken): void {
    if (token.type === 'Punctuator') this.#countPunctuator(token.value);
    else if (token.type === 'JSXPunctuator') this.#countElement(token.value);
    else if (token.type === 'TemplateHead') this.#open();
    else if (token.type === 'TemplateMiddle') Object.assign(this.#top(), { chain: 0, angles: 0 });
    else if (token.type === 'TemplateTail') this.#close();
    else if (token.type === 'IdentifierName') return this.#countWord(token.value);
    else this.#endsOperand = true;
  }

  #countPunctuator(value: string): void {
    const level = this.#top();
    const isPrefix = !this.#endsOperand;
    if ('([{'.includes(value)) return this.#open();
    if (')]}'.includes(value)) return this.#close();
    if (value === ';') this.#hasEnded = true;
    else if (value === ',') level.chain = 0;
    else if (value === '<') level.angles += 1;
    else if (/^>+$/.test(value)) level.angles = Math.max(0, level.angles - value.length);
    else if (value === ':' && this.#before === ':') level.chain += 1;
    else if (isOperator(value, isPrefix)) level.chain += 1;
    this.#endsOperand = /^>+$/.test(value) || (prefixes.has(value) && !isPrefix && value.length === 2);
  }

  #countWord(value: string): void {
    const isName = this.#value === '.' || this.#value === '?.';
    // Treats `void` after these as a type.
    const isType = value === 'void' && [':', '=>', '|'].includes(this.#value);
    const isPrefix = prefixWords.has(value) && !isName && !isType;
    if (isPrefix) this.#top().chain += 1;
    this.#endsOperand = !isPrefix;
  }

  /** Counts elements: `<a>` opens, `</a>` and `/>` close. */
  #countElement(value: string): void {
    if (value === '{') this.#open();
    else if (value === '}') this.#close();
    else if (value === '<') this.#elements += 1;
    else if (value === '/') this.#elements -= this.#value === '<' && this.#last === 'JSXPunctuator' ? 2 : 1;
    this.#elements = Math.max(0, this.#elements);
    this.#endsOperand = value === '>';
  }

  #open(): void {
    const isHead = this.#value === 'await' ? this.#before === 'for' : heads.has(this.#value);
    this.#levels.push({ chain: 0, angles: 0, isHead });
    this.#endsOperand = false;
  }

  #close(): void {
    const closed = this.#levels.length > 1 ? this.#levels.pop() : undefined;
    this.#endsOperand = closed?.isHead !== true;
  }
}

function findTooDeep(text: string, jsx: boolean): { offset: number; text: string } | undefined {
  const nesting = new Nesting();
  let offset = 0;
  const tokens: Iterable<AnyToken> = jsx ? jsTokens(text, { jsx: true }) : jsTokens(text);
  for (const token of tokens) {
    const problem = nesting.take(token);
    if (problem !== undefined) return { offset, text: problem };
    offset += token.value.length;
  }
  return undefined;
}
