import { ShellSyntaxError, type Token, tokenize, type WordPart } from './tokens.ts';

export type Word = readonly WordPart[];

export interface Redirection {
  readonly operator: '<' | '>' | '>>' | '2>' | '2>&1' | '>&2';
  /** Missing for the ones that name another stream. */
  readonly target: Word | undefined;
}

export interface Command {
  readonly words: readonly Word[];
  readonly redirections: readonly Redirection[];
  /** A list in parentheses, instead of words. */
  readonly group: List | undefined;
}

/** Commands joined by `|`. */
export type Pipeline = readonly Command[];

export interface Step {
  /** What the step before must have returned for this one to run. */
  readonly condition: 'always' | 'success' | 'failure';
  readonly pipeline: Pipeline;
  /** After it stands `&`: the next one does not wait for it. */
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

/** Reads a command line. Throws ShellSyntaxError. */
export function parseCommandLine(line: string): List {
  const parser = new Parser(tokenize(line));
  const list = parser.list();
  parser.expectEnd();
  return list;
}
