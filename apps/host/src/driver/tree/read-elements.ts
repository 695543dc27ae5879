import { attributeText } from './attribute-text.ts';
import { unreadableTree } from './unreadable-tree.ts';

export interface ElementReader {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(): void;
}

// Each at one place. Text between elements belongs to none of them.
const declaration = /(?:<\?xml [^?<>]*\?>)?/y;
const space = /[\t\n\r ]*/y;
// oxlint-disable-next-line no-control-regex
const text = /[^<&\0-\x08\v\f\x0e-\x1f\uFFFE\uFFFF]*/y;
const startTag = /<([\w:.\-\u0080-\uFFFD]+)/y;
const attribute =
  // oxlint-disable-next-line no-control-regex
  /\s+([\w:.\-\u0080-\uFFFD]+)\s*=\s*(?:"([^"<\0-\x08\v\f\x0e-\x1f\uFFFE\uFFFF]*)"|'([^'<\0-\x08\v\f\x0e-\x1f\uFFFE\uFFFF]*)')/y;
const startTagEnd = /\s*(\/?)>/y;
const endTag = /<\/([\w:.\-\u0080-\uFFFD]+)\s*>/y;

/**
 * Reads what Android writes of its screens: a declaration, elements and their attributes. Refuses all else that XML knows,
 * such as entities of its own, and elements that don't end. By hand, because a parser of any XML takes twice as long, which
 * was half of what the host does for a screen.
 */
export function readElements(xml: string, reader: ElementReader): void {
  if (!xml.isWellFormed()) throw unexpected(0);
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
    if (found === null) throw unexpected(at);
    return found[1] ?? '';
  };
  const readAttributes = (): Map<string, string> => {
    const attributes = new Map<string, string>();
    for (let found = find(attribute); found !== null; found = find(attribute)) {
      const name = found[1] ?? '';
      const value = found[2] ?? found[3] ?? '';
      if (attributes.has(name)) throw unexpected(at);
      attributes.set(name, value.includes('&') ? attributeText(value) : value);
    }
    return attributes;
  };
  const open: string[] = [];
  take(declaration);
  do {
    take(open.length === 0 ? space : text);
    const ended = find(endTag);
    if (ended === null) {
      const name = take(startTag);
      reader.open(name, readAttributes());
      open.push(name);
      if (take(startTagEnd) === '') continue;
    } else if (ended[1] !== open.at(-1)) throw unexpected(at);
    open.pop();
    reader.close();
  } while (open.length > 0);
  take(space);
  if (at < xml.length) throw unexpected(at);
}

function unexpected(at: number): Error {
  return unreadableTree(`its XML at ${at} is not what Android writes`);
}
