import { useRef, useState, type ClipboardEvent, type KeyboardEvent, type RefObject } from 'react';

import styles from './live.module.css';
import type { Touch } from './use-touch.ts';

/** Android's numbers of keys, by what a keyboard calls them. */
const keyCodes: Readonly<Record<string, number>> = {
  ...{ Enter: 66, Backspace: 67, Delete: 112, Escape: 4 },
  ...{ ArrowUp: 19, ArrowDown: 20, ArrowLeft: 21, ArrowRight: 22, PageUp: 92, PageDown: 93 },
};
/** The phone takes 10,000 UTF-16 units at once; a letter has at most two. */
const lettersAtOnce = 5000;

interface TypedTextProps {
  field: RefObject<HTMLTextAreaElement | null>;
  touches: Touch;
  onFiles: ((files: readonly File[]) => void) | undefined;
}

/** A field over the picture whose text goes to the phone: so any layout and any input method of the computer types. */
export function TypedText({ field, touches, onFiles }: TypedTextProps) {
  const [isComposing, setComposing] = useState(false);
  // Text may come after the last composition has ended, or with it.
  const composing = useRef(false);
  const compose = (isOn: boolean): void => {
    composing.current = isOn;
    setComposing(isOn);
  };
  const take = (): void => {
    const text = field.current?.value ?? '';
    if (field.current === null || text === '' || composing.current) return;
    field.current.value = '';
    touches.type(text);
  };
  const pressKey = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const code = keyCodes[event.key];
    if (code === undefined) return;
    event.preventDefault();
    touches.send({ type: 'key', key_code: code });
  };
  const paste = (event: ClipboardEvent): void => {
    event.preventDefault();
    const files = [...event.clipboardData.files];
    if (files.length > 0) return onFiles?.(files);
    const letters = [...event.clipboardData.getData('text/plain').replaceAll('\r\n', '\n')];
    for (let at = 0; at < letters.length; at += lettersAtOnce)
      touches.send({ type: 'text', text: letters.slice(at, at + lettersAtOnce).join('') });
  };
  return (
    <textarea
      ref={field}
      className={styles['typed']}
      data-composing={isComposing}
      aria-label="Type on the phone"
      autoCapitalize="off"
      autoComplete="off"
      autoCorrect="off"
      spellCheck={false}
      rows={1}
      onKeyDown={pressKey}
      onInput={take}
      onCompositionStart={() => compose(true)}
      onCompositionEnd={() => {
        compose(false);
        take();
      }}
      onPaste={paste}
    />
  );
}
