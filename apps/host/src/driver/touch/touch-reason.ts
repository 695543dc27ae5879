import type { TouchedNode } from '@phalanx/protocol';
import type { Cover, Unreached } from './touch-reach.ts';

/** Returns why no touch reaches a node, and what to do about it, as a sentence without its full stop. */
export function reasonOf(found: Unreached, sought: TouchedNode, isKeyboard = false): string {
  const name = nameOf(sought);
  if (found.state === 'not_in_view') return `Too little of ${name} is on the screen. Scroll to it`;
  if (found.state === 'gone') return `${begin(name)} is not on the screen any more. Read the screen again`;
  const advice = isKeyboard
    ? '. Close it with { closeKeyboard: true } or hideKeyboard() in code, with "close_keyboard": true in a step of act, or scroll'
    : '';
  return `${coverOf(found.cover, isKeyboard)} lies over ${name} and would get the touch${advice}`;
}

const begin = (name: string): string => `T${name.slice(1)}`;

const maxNameLength = 80;

type Named = Pick<TouchedNode, 'className' | 'viewId' | 'text' | 'description'>;

/** Returns words by which a person recognizes the node. Omits the text in a field. */
function nameOf({ className, viewId, text, description }: Named): string {
  const kind = className?.split('.').at(-1) ?? 'node';
  const words = kind.includes('EditText') ? '' : (text ?? description ?? '').slice(0, maxNameLength);
  const id = viewId === null ? '' : `#${viewId.split('/').at(-1) ?? ''}`;
  const parts = ['the', kind, id, words && JSON.stringify(words.toWellFormed())];
  return parts.filter((part) => part !== '').join(' ');
}

function coverOf(cover: Cover, isKeyboard: boolean): string {
  if ('node' in cover) return begin(nameOf(cover.node));
  const { packageName } = cover.window;
  const name = packageName === '' ? 'an app that Android does not name' : packageName;
  return `${isKeyboard ? 'The keyboard' : 'A window'} of ${name}`;
}
