import { type Comment, parseSync, type Statement, type TSType } from 'oxc-parser';

import { type DeclaredDoc, inOneLine, parseDoc } from './declared-doc.ts';

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Returns a page of the reference in Markdown, generated from a file of declarations. */
export function referencePage(title: string, fileName: string, source: string): string {
  const { program, comments } = parseSync(fileName, source);
  const page = new Page(source, comments);
  page.add(`# ${title}`, '<!-- Made from the declarations by scripts/write-reference.ts: change those. -->');
  for (const statement of program.body) page.describe(statement);
  return page.text;
}

class Page {
  readonly #source: string;
  readonly #comments: readonly Comment[];
  readonly #parts: string[] = [];

  constructor(source: string, comments: readonly Comment[]) {
    this.#source = source;
    this.#comments = comments;
  }

  get text(): string {
    return `${this.#parts.join('\n\n')}\n`;
  }

  add(...parts: string[]): void {
    this.#parts.push(...parts);
  }

  describe(statement: Statement): void {
    const { name, members } = declared(statement);
    if (name === undefined) return;
    this.add(`## ${name}`);
    const signature = this.#slice(statement);
    if (members === undefined) this.add(code(signature.replace(/^declare /, '')));
    else if (signature.includes(' extends '))
      this.add(`With all of ${code(/ extends (\w+)/.exec(signature)?.[1] ?? '')}.`);
    this.#addDoc(this.#docOf(statement));
    if (members !== undefined) this.#addMembers(members);
  }

  #addMembers(members: readonly Place[]): void {
    for (const member of members) {
      const signature = this.#slice(member).replace(/^readonly /, '');
      if (signature.startsWith('private ')) continue;
      this.add(`### ${code(signature)}`);
      this.#addDoc(this.#docOf(member));
    }
  }

  #addDoc(doc: DeclaredDoc | undefined): void {
    if (doc === undefined) return;
    if (doc.text !== '') this.add(doc.text);
    if (doc.parameters.length > 0)
      this.add(doc.parameters.map(({ name, text }) => `- ${code(name)}: ${text}`).join('\n'));
    for (const example of doc.examples) this.add(`\`\`\`ts\n${example}\n\`\`\``);
  }

  #slice({ start, end }: Place): string {
    return inOneLine(this.#source.slice(start, end));
  }

  /** Returns the comment directly before the place, separated only by white space. */
  #docOf({ start }: Place): DeclaredDoc | undefined {
    const comment = this.#comments.findLast(({ end }) => end <= start);
    if (comment === undefined || this.#source.slice(comment.end, start).trim() !== '') return undefined;
    return comment.value.startsWith('*') ? parseDoc(comment.value) : undefined;
  }
}

const code = (text: string): string => `\`${text}\``;

/** Returns name and members of a declaration; one without members is described by its own line. */
function declared(statement: Statement): { name?: string; members?: readonly Place[] } {
  if (statement.type === 'TSInterfaceDeclaration')
    return { name: statement.id.name, members: statement.body.body };
  if (statement.type === 'ClassDeclaration' && statement.id !== null)
    return { name: statement.id.name, members: statement.body.body };
  if (statement.type === 'TSTypeAliasDeclaration') return { name: statement.id.name };
  if (statement.type === 'TSDeclareFunction' && statement.id !== null) return { name: statement.id.name };
  if (statement.type !== 'VariableDeclaration') return {};
  const id = statement.declarations[0]?.id;
  return id?.type === 'Identifier'
    ? { name: id.name, ...literalMembers(id.typeAnnotation?.typeAnnotation) }
    : {};
}

const literalMembers = (type: TSType | undefined): { members?: readonly Place[] } =>
  type?.type === 'TSTypeLiteral' ? { members: type.members } : {};
