import { SaxesParser } from 'saxes';
import { expect, it } from 'vitest';
import { readElements } from './parse-tree.ts';
import { readableText } from './readable-text.ts';

type Told = ({ name: string; attributes: [string, string][] } | 'close')[];

function read(xml: string): Told | undefined {
  const told: Told = [];
  try {
    readElements(xml, {
      open: (name, attributes) => told.push({ name, attributes: [...attributes] }),
      close: () => told.push('close'),
    });
    return told;
  } catch {
    return undefined;
  }
}

/** Reads the same with a general XML parser, after replacing characters that XML forbids. */
function readByWitness(changed: string): Told | undefined {
  const xml = readableText(changed).replaceAll(/&#x[14];/g, '?');
  const told: Told = [];
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) =>
    told.push({ name, attributes: Object.entries(attributes).map(([key, value]) => [key, String(value)]) }),
  );
  parser.on('closetag', () => told.push('close'));
  try {
    parser.write(xml).close();
    return told;
  } catch {
    return undefined;
  }
}

const document = `<hierarchy rotation="0">
  <x.Node text="a &amp; 日 &#x41;" package='c'><node /><node index="1"></node></x.Node>
</hierarchy>
`;
const pieces = ['', '<', '>', '/', '"', "'", '&', '=', ' ', 'é', '\0', '&no;', '<node/>', '</node>'];

it('takes nothing that a parser of any XML refuses or reads in another way, wherever a document is changed', () => {
  expect(read(document)).toHaveLength(8);
  for (let at = 0; at <= document.length; at += 1)
    for (const piece of pieces)
      for (const cut of [0, 1, 3]) {
        const changed = document.slice(0, at) + piece + document.slice(at + cut);
        const told = read(changed);
        if (told !== undefined) expect(told, changed).toEqual(readByWitness(changed));
      }
});
