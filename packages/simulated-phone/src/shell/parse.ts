export type Word = readonly WordPart[];

export interface Redirection {
  readonly operator: '<' | '>' | '>>' | '2>' | '2>&1' | '>&2';
  /** Target file; undefined for redirections to another stream. */
  readonly target: Word | undefined;
}

export interface Command {
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
  /** List in parentheses, instead of words. */
  readonly group: List | undefined;
}

/** Commands joined by `|`. */
export type Pipeline = readonly Command[];

export interface Step {
  /** Required result of the previous step for this one to run. */
  readonly condition: 'always' | 'success' | 'failure';
  readonly pipeline: Pipeline;
  /** Whether `&` follows: the next command does not wait. */
  readonly isBackground: boolean;
}

export type List = readonly Step[];

const maxDepth = 20;
const maxPipeline = 50;
const redirections: ReadonlyMap<string, Redirection['operator']> = new Map([
  ['<', '<'],
  ['>', '>'],
  ['>>', '>>'],
  ['2>', '2>'],
  ['2>&1', '2>&1'],
  ['>&2', '>&2'],
  ['1>&2', '>&2'],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  list(): List {
    const steps: Step[] = [];
    let condition: Step['condition'] = 'always';
    for (;;) {
      while (this.#takeOperator(';', '\n', '&')) condition = 'always';
      if (this.#isAtEnd() || this.#peekOperator(')')) return steps;
      const pipeline = this.#pipeline();
      steps.push({ condition, pipeline, isBackground: this.#peekOperator('&') });
      if (this.#takeOperator('&&')) condition = 'success';
      else if (this.#takeOperator('||')) condition = 'failure';
      else if (this.#peekOperator(';', '\n', '&')) condition = 'always';
      else if (!this.#isAtEnd() && !this.#peekOperator(')')) throw this.#unexpected();
    }
  }

  expectEnd(): void {
    if (!this.#isAtEnd()) throw this.#unexpected();
  }

  #pipeline(): Pipeline {
    const commands = [this.#command()];
    while (this.#takeOperator('|')) {
      commands.push(this.#command());
      if (commands.length > maxPipeline)
        throw new ShellSyntaxError('/system/bin/sh: too many commands in a pipeline');
    }
    return commands;
  }

  #command(): Command {
    const words: Word[] = [];
    const redirected: Redirection[] = [];
    const group = this.#takeOperator('(') ? this.#group() : undefined;
    for (let token = this.#tokens[this.#index]; token; token = this.#tokens[this.#index]) {
      if (token.kind === 'word') {
        words.push(token.parts);
        this.#index++;
        continue;
      }
      const operator = redirections.get(token.text);
      if (!operator) break;
      this.#index++;
      const isNamed = operator !== '2>&1' && operator !== '>&2';
      redirected.push({ operator, target: isNamed ? this.#expectWord() : undefined });
    }
    if (words.length === 0 && redirected.length === 0 && !group) throw this.#unexpected();
    return { words, redirections: redirected, group };
  }

  #group(): List {
    if (++this.#depth > maxDepth) throw new ShellSyntaxError('/system/bin/sh: too many parentheses');
    const list = this.list();
    if (!this.#takeOperator(')')) throw this.#unexpected();
    this.#depth--;
    return list;
  }

  #expectWord(): Word {
    const token = this.#tokens[this.#index];
    if (token?.kind !== 'word') throw this.#unexpected();
    this.#index++;
    return token.parts;
  }

  #peekOperator(...texts: string[]): boolean {
    const token = this.#tokens[this.#index];
    return token?.kind === 'operator' && texts.includes(token.text);
  }

  #takeOperator(...texts: string[]): boolean {
    const isThere = this.#peekOperator(...texts);
    if (isThere) this.#index++;
    return isThere;
  }

  #isAtEnd(): boolean {
    return this.#index >= this.#tokens.length;
  }

  #unexpected(): ShellSyntaxError {
    const token = this.#tokens[this.#index];
    const text = token?.kind === 'operator' ? token.text : token?.parts[0]?.text;
    return new ShellSyntaxError(`/system/bin/sh: syntax error: unexpected '${text ?? 'newline'}'`);
  }
}

/** Parses a command line. Throws ShellSyntaxError. */
export function parseCommandLine(line: string): List {
  const parser = new Parser(tokenize(line));
  const list = parser.list();
  parser.expectEnd();
  return list;
}

/** Part of a word, either expanded (`$?`) or literal. */
interface WordPart {
  readonly text: string;
  /** Whether the part was quoted with single quotes or escaped: it is not expanded. */
  readonly isLiteral: boolean;
}

type Token =
  | { readonly kind: 'word'; readonly parts: readonly WordPart[] }
  | { readonly kind: 'operator'; readonly text: string };

/** Syntax error in a command line. The shell prints the message and exits with 1. */
export class ShellSyntaxError extends Error {
  override readonly name = 'ShellSyntaxError';
}

const operators = ['2>&1', '1>&2', '>&2', '&&', '||', '>>', '2>', '>', '<', '|', ';', '&', '(', ')', '\n'];

function findOperator(line: string, index: number, isWordStart: boolean): string | undefined {
  return operators.find((operator) => {
    // In "a2>x", a2 is a word; a digit belongs to a redirection only at the start of a word.
    if (/^\d/.test(operator) && !isWordStart) return false;
    return line.startsWith(operator, index);
  });
}

const plainText = /[^\s'"\\;&|<>()]+/y;

function closingQuote(line: string, from: number): number {
  for (let index = from; index < line.length; index++) {
    if (line[index] === '\\') index++;
    else if (line[index] === '"') return index;
  }
  throw new ShellSyntaxError('/system/bin/sh: no closing quote');
}

/** Splits the content of double quotes, in which a backslash escapes only special characters. */
function doubleQuotedParts(content: string): WordPart[] {
  const pieces = content.match(/\\[\s\S]|[^\\]+/g) ?? [''];
  return pieces.map((piece) => {
    if (!piece.startsWith('\\')) return { text: piece, isLiteral: false };
    return { text: /^\\[$`"\\]$/.test(piece) ? piece.slice(1) : piece, isLiteral: true };
  });
}

/** Maximum length in characters, which one OPEN of an old client can carry; a real kernel accepts 128 KiB. */
const maxLineLength = 64 * 1024;

class Lexer {
  readonly #line: string;
  readonly #tokens: Token[] = [];
  /** Word in progress; undefined between words. */
  #parts: WordPart[] | undefined;

  constructor(line: string) {
    this.#line = line;
  }

  tokens(): Token[] {
    for (let index = 0; index < this.#line.length;) index = this.#readAt(index);
    this.#endWord();
    return this.#tokens;
  }

  /** Reads a token. Returns the offset of the next one. */
  #readAt(index: number): number {
    const operator = findOperator(this.#line, index, this.#parts === undefined);
    if (operator !== undefined) {
      this.#endWord();
      this.#tokens.push({ kind: 'operator', text: operator });
      return index + operator.length;
    }
    switch (this.#line.charAt(index)) {
      case ' ':
      case '\t':
      case '\r':
        this.#endWord();
        return index + 1;
      case '#':
        return this.#parts === undefined ? this.#endOfLine(index) : this.#readPlain(index);
      case "'":
        return this.#readSingleQuoted(index);
      case '"':
        return this.#readDoubleQuoted(index);
      case '\\':
        return this.#readEscaped(index);
      default:
        return this.#readPlain(index);
    }
  }

  #endOfLine(index: number): number {
    const end = this.#line.indexOf('\n', index);
    return end < 0 ? this.#line.length : end;
  }

  #readSingleQuoted(index: number): number {
    const end = this.#line.indexOf("'", index + 1);
    if (end < 0) throw new ShellSyntaxError('/system/bin/sh: no closing quote');
    this.#add({ text: this.#line.slice(index + 1, end), isLiteral: true });
    return end + 1;
  }

  #readDoubleQuoted(index: number): number {
    const end = closingQuote(this.#line, index + 1);
    for (const part of doubleQuotedParts(this.#line.slice(index + 1, end))) this.#add(part);
    return end + 1;
  }

  /** Reads an escaped character. A backslash at the end of a line joins the lines. */
  #readEscaped(index: number): number {
    const character = this.#line.charAt(index + 1);
    if (character !== '\n') this.#add({ text: character, isLiteral: true });
    return index + 2;
  }

  #readPlain(index: number): number {
    plainText.lastIndex = index;
    const plain = plainText.exec(this.#line)?.[0] ?? this.#line.charAt(index);
    this.#add({ text: plain, isLiteral: false });
    return index + plain.length;
  }

  #add(part: WordPart): void {
    this.#parts ??= [];
    this.#parts.push(part);
  }

  #endWord(): void {
    if (this.#parts) this.#tokens.push({ kind: 'word', parts: this.#parts });
    this.#parts = undefined;
  }
}

/** Splits a command line like POSIX sh. Throws ShellSyntaxError. */
function tokenize(line: string): Token[] {
  if (line.length > maxLineLength) throw new ShellSyntaxError('/system/bin/sh: Argument list too long');
  return new Lexer(line).tokens();
}
