import { useEffect, useRef } from 'react';

import { createStore, useStore } from '../api/store.ts';
import { Dialog } from './dialog.tsx';
import styles from './keys.module.css';

const storageKey = 'phalanx.single-keys';

/** Whether single-key shortcuts are on. WCAG 2.1.4 requires a way to switch them off. */
export const singleKeys = createStore(localStorage.getItem(storageKey) !== 'off');

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(storageKey, isOn ? 'on' : 'off');
  singleKeys.set(isOn);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  target.getAttribute('type') !== 'checkbox';

/** Whether a key activates the focused control: Enter and Space belong to the focused button or link. */
const isActivation = ({ key, target }: KeyboardEvent): boolean =>
  (key === 'Enter' || key === ' ') &&
  target instanceof Element &&
  target.closest('button, a[href], summary, [role="button"], [role="tab"], [role="option"]') !== null;

/** Whether a dialog is open. Notices have the role of a dialog too, but do not block shortcuts. */
const isInPopup = (): boolean =>
  document.querySelector('#popups [role="dialog"], [aria-modal="true"]') !== null;

type Keys = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Binds single-key shortcuts while the component is mounted. They are off while the user types or a dialog is open. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!singleKeys.get() || isTyping(event.target) || isActivation(event) || isInPopup()) return;
      const action = current.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** Binds Ctrl shortcuts, such as `p`, or `F` with Shift. They also work while the user types. */
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

const groups: readonly { name: string; keys: readonly [keys: string, meaning: string][] }[] = [
  {
    name: 'Everywhere',
    keys: [
      ['Ctrl K', 'Find a page, phone or project'],
      ['g f', 'Fleet'],
      ['g p', 'Projects'],
      ['g r', 'Runs'],
      ['g j', 'Jobs'],
      ['g v', 'Review'],
      ['g s', 'Settings'],
      ['/', 'Filter'],
      ['?', 'This page'],
    ],
  },
  {
    name: 'Lists',
    keys: [
      ['j k', 'Next, previous'],
      ['x', 'Select'],
      ['Enter', 'Open'],
    ],
  },
  {
    name: 'Editor',
    keys: [
      ['Ctrl S', 'Save'],
      ['Ctrl Enter', 'Save and run'],
      ['Ctrl Space', 'Complete'],
      ['Ctrl Shift Space', 'Parameters of a call'],
    ],
  },
  {
    name: 'Review of groups',
    keys: [
      ['j k', 'Next, previous group'],
      ['e', 'Solved'],
      ['i', 'Ignore'],
      ['r', 'Reopen'],
      ['a', 'Assign to yourself, or unassign'],
      ['x', 'Select for merging'],
      ['m', 'Merge the selected groups into this one'],
      ['z', 'Undo'],
      ['o', 'Open the newest record'],
    ],
  },
  {
    name: 'Review of records',
    keys: [
      ['j k', 'Older, newer record'],
      ['h l', 'Earlier, later screen'],
      ['e', 'Solved'],
      ['s', 'Skip'],
      ['b', 'Save, or stop saving'],
      ['c', 'Copy the first selector'],
      ['o', 'Open the code that stopped there'],
    ],
  },
];

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const isOn = useStore(singleKeys);
  return (
    <Dialog title="Keyboard" isOpen isWide onClose={onClose}>
      <div className={styles['groups']}>
        {groups.map(({ name, keys }) => (
          <section key={name} className={styles['group']} aria-label={name}>
            <h3>{name}</h3>
            <dl>
              {keys.map(([names, meaning]) => (
                <div key={names} style={{ display: 'contents' }}>
                  <dt>
                    {names.split(' ').map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className={styles['switch']}>
        <input type="checkbox" checked={isOn} onChange={(event) => setSingleKeys(event.target.checked)} />
        Use single-key shortcuts
      </label>
    </Dialog>
  );
}
