import { useEffect, useRef } from 'react';

import { createStore } from '../api/store.ts';

const storageKey = 'phalanx.single-keys';

/** Single keys can be switched off (WCAG 2.1.4). */
export const singleKeys = createStore(localStorage.getItem(storageKey) !== 'off');

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(storageKey, isOn ? 'on' : 'off');
  singleKeys.set(isOn);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  target.getAttribute('type') !== 'checkbox';

/** Notices are dialogs too, but nobody has to answer them. */
const isInPopup = (): boolean =>
  document.querySelector('#popups [role="dialog"], [aria-modal="true"]') !== null;

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Calls what is bound to a key while the component is there; never while somebody types, nor under a dialog. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!singleKeys.get() || isTyping(event.target) || isInPopup()) return;
      const action = current.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Calls what is bound to a key with Ctrl, also while somebody types: `p`, or `F` with Shift. */
export function usePageKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isInPopup()) return;
      const action = current.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
