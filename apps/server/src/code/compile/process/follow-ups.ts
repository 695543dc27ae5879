import type { CheckerMessage } from './checker.ts';
import { listIncomplete, type Sources } from './import-graph.ts';

const word = /(?<![.\w$])[A-Za-z_$][\w$]*|(['"`])\.\.?(?:\/[^'"`\n]*)?\1/g;
/**
 * Matches names that a statement declares: variables, functions, types, and parameters that have a type or belong to an
 * arrow function.
 */
const declared =
  /\b(?:const|let|var|function|class|interface|type|enum|namespace)\s+([\w$]+)|([\w$]+)\s*\??:(?!:)|([\w$]+)\s*=>|\(([\w$,\s]+)\)\s*=>/g;
const pattern = /\b(?:const|let|var)\s*([{[][^=]*[}\]])\s*(?::[^=]*)?(?:=|of\b)/;
const imported = /^\s*(?:import|export)\b([^'"`]*)\bfrom\b/;
/** Keywords by which a class uses inherited members. */
const inherited = ['this', 'super', 'override'];

const wordsOf = (text: string): string[] => Array.from(text.matchAll(word), ([found]) => found);

interface Parts {
  statement: Statement;
  declares: readonly string[];
  uses: readonly string[];
}

function partsOf(statement: Statement): Parts {
  const { text } = statement;
  const named = Array.from(text.matchAll(declared), (match) => wordsOf(match.slice(1).join(' ')));
  const lists = [pattern.exec(text)?.[1], imported.exec(text)?.[1]].map((list) => wordsOf(list ?? ''));
  const heirlooms = /\bclass\b[^]*\bextends\b/.test(text) ? inherited : [];
  const declares = [...named, ...lists].flat();
  return {
    statement,
    declares: [...declares, ...heirlooms],
    uses: wordsOf(text).filter((name) => !declares.includes(name)),
  };
}

/** Lists the words in the arguments of a call. A function that is not known yet may assert their types. */
function argumentsOf(text: string, callee: string): string[] {
  const name = callee.replaceAll('$', '\\$');
  const at = text.search(new RegExp(`(?<![.\\w$])${name}(?![\\w$])[\\w$.]*(?:<[^(]*>)?\\(`));
  return at === -1 ? [] : wordsOf(text.slice(at + callee.length));
}

/** Matches a condition, which may narrow the type of every name in it. */
const condition = /^\s*(?:else\s+)?(?:if|while|switch)\b|\?|&&|\|\|/;

function narrowedBy({ statement: { text }, uses }: Parts, causes: readonly string[]): readonly string[] {
  if (condition.test(text)) return uses;
  return causes.filter((cause) => /^[\w$]/.test(cause)).flatMap((cause) => argumentsOf(text, cause));
}

/** Lists all words that depend on files that do not exist yet. */
function listDoubtful(parts: readonly Parts[], specifiers: readonly string[]): Set<string> {
  const own = new Set(parts.flatMap(({ declares }) => declares));
  const doubtful = new Set(specifiers.flatMap((path) => [`'${path}'`, `"${path}"`, `\`${path}\``]));
  for (let before = -1; before !== doubtful.size;) {
    before = doubtful.size;
    for (const part of parts) {
      const causes = part.uses.filter((name) => doubtful.has(name));
      if (causes.length === 0) continue;
      const reached = [...part.declares, ...narrowedBy(part, causes).filter((name) => own.has(name))];
      for (const name of reached) doubtful.add(name);
    }
  }
  return doubtful;
}

/**
 * Creates a predicate for errors in `path` that may vanish once missing imported files exist. An error matches if its
 * statement uses, directly or through other names, anything from such a file.
 */
export function createFollowUpTest(sources: Sources, path: string): (message: CheckerMessage) => boolean {
  const specifiers = listIncomplete(sources, path);
  if (specifiers.length === 0) return () => false;
  const parts = splitStatements(sources.findText(path) ?? '').map(partsOf);
  const doubtful = listDoubtful(parts, specifiers);
  return ({ start }) => {
    const part = parts.find(({ statement }) => start >= statement.start && start < statement.end);
    return part !== undefined && part.uses.some((name) => doubtful.has(name));
  };
}

/** Statement, head of a block, or member of a class or interface, found heuristically without parsing. */
interface Statement {
  start: number;
  end: number;
  /** Text of the statement without comments and string contents. */
  text: string;
}

const notCode = /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const relativePath = /^['"`]\.\.?(?:\/|['"`]$)/;
/** Matches code before a brace that opens a part of an expression, of a type, or of a list of imported names. */
const opensPart = /(?:[(=,:[?|&<]|\b(?:import|export|type|return|default|as|satisfies))\s*$/;
const goesOn = /^\s*(?:[.?:)\]},=&|+*/<>%^]|-|extends\b|implements\b|from\b)/;
const isOpen = /(?:[=,([&|+*?:<.%^-]|=>|\b(?:extends|implements|return|import|export|from))\s*$/;

/** Number of characters that are examined to determine the meaning of a brace or a line break. */
const lookBack = 200;

/** Splits code into statements. */
function splitStatements(source: string): Statement[] {
  const code = source.replace(notCode, (found) =>
    relativePath.test(found) || found.startsWith('`')
      ? found.replaceAll('\n', ' ')
      : ' '.repeat(found.length),
  );
  const statements: Statement[] = [];
  let start = 0;
  let depth = 0;
  const outer: (number | undefined)[] = [];
  const end = (at: number): void => {
    const text = code.slice(start, at);
    if (text.trim() !== '') statements.push({ start, end: at, text });
    start = at;
  };
  for (const { 0: found, index } of code.matchAll(/[(){}[\];\n]/g)) {
    const before = code.slice(Math.max(start, index - lookBack), index);
    if (found === '(' || found === '[') depth += 1;
    else if (found === ')' || found === ']') depth -= 1;
    else if (found === '{' && opensPart.test(before)) {
      outer.push(undefined);
      depth += 1;
    } else if (found === '{') {
      outer.push(depth);
      depth = 0;
      end(index + 1);
    } else if (found === '}') {
      const opened = outer.pop();
      if (opened === undefined) depth -= 1;
      else {
        depth = opened;
        end(index);
        start = index + 1;
      }
    } else if (
      depth <= 0 &&
      (found === ';' || !(isOpen.test(before) || goesOn.test(code.slice(index + 1, index + lookBack))))
    )
      end(index);
  }
  end(code.length);
  return statements;
}
