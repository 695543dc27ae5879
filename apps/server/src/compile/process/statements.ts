/** A statement, the head of a block, or a member of a class or interface: roughly, without parsing. */
export interface Statement {
  start: number;
  end: number;
  /** Without comments and the contents of strings. */
  text: string;
}

const notCode = /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const relativePath = /^['"`]\.\.?(?:\/|['"`]$)/;
/** Before a brace: what it opens is part of an expression, a type, or a list of imported names. */
const opensPart = /(?:[(=,:[?|&<]|\b(?:import|export|type|return|default|as|satisfies))\s*$/;
const goesOn = /^\s*(?:[.?:)\]},=&|+*/<>%^]|-|extends\b|implements\b|from\b)/;
const isOpen = /(?:[=,([&|+*?:<.%^-]|=>|\b(?:extends|implements|return|import|export|from))\s*$/;

/** So many characters decide what a brace or a line break is. */
const lookBack = 200;

/** Splits code where statements begin and end. */
export function splitStatements(source: string): Statement[] {
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
