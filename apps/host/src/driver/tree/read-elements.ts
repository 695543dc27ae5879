import { isXmlText } from './attribute-text.ts';
import { readAttributes } from './read-attributes.ts';
import { unexpectedXml } from './unreadable-tree.ts';

export interface ElementReader {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(): void;
}

// Each at one place. Text between elements belongs to none of them.
const declaration = /(?:<\?xml [^?<>]*\?>)?/y;
const space = /[\t\n\r ]*/y;
const text = /[^<&]*/y;
const startTag = /<([\w:.\-\u0080-\uFFFD]+)/y;
const startTagEnd = /\s*(\/?)>/y;
const endTag = /<\/([\w:.\-\u0080-\uFFFD]+)\s*>/y;

/**
 * Reads what Android writes of its screens: a declaration, elements and their attributes. Refuses all else that XML knows,
 * such as entities of its own, and elements that don't end. By hand, because a parser of any XML takes twice as long, which
 * was half of what the host does for a screen.
 */
export function readElements(xml: string, reader: ElementReader): void {
  if (!isXmlText(xml)) throw unexpectedXml(0);
  let at = 0;
  /** Of the form at this place; null when it does not stand there. */
  const find = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(xml);
    if (found !== null) at = form.lastIndex;
    return found;
  };
  const take = (form: RegExp): string => {
    const found = find(form);
    if (found === null) throw unexpectedXml(at);
    return found[1] ?? '';
  };
  const takeAttributes = (): Map<string, string> => {
    const attributes = new Map<string, string>();
    at = readAttributes(xml, at, attributes);
    return attributes;
  };
  const open: string[] = [];
  take(declaration);
  do {
    take(open.length === 0 ? space : text);
    const ended = find(endTag);
    if (ended === null) {
      const name = take(startTag);
      reader.open(name, takeAttributes());
      open.push(name);
      if (take(startTagEnd) === '') continue;
    } else if (ended[1] !== open.at(-1)) throw unexpectedXml(at);
    open.pop();
    reader.close();
  } while (open.length > 0);
  take(space);
  if (at < xml.length) throw unexpectedXml(at);
}
