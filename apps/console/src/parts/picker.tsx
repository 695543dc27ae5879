import { Dialog } from '@base-ui/react/dialog';
import { useDeferredValue, useState, type KeyboardEvent } from 'react';

import { Icon, type IconName } from './icon.tsx';
import styles from './picker.module.css';
import { popupRoot } from './dialog.tsx';

export interface PickerItem {
  readonly id: string;
  readonly label: string;
  readonly note: string;
  readonly icon: IconName;
  readonly run: () => void;
}

interface PickerProps {
  name: string;
  /** Label of the input. */
  label: string;
  find: (text: string) => readonly PickerItem[];
  onClose: () => void;
}

const maxShown = 50;

/** Input with matching suggestions; Enter takes the highlighted one. */
export function Picker({ name, label, find, onClose }: PickerProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = find(useDeferredValue(text)).slice(0, maxShown);
  const at = Math.min(chosen, found.length - 1);
  const run = (command: PickerItem | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') run(found[at]);
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + found.length) % Math.max(1, found.length);
    setChosen(next);
    document.getElementById(`command-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal container={popupRoot()}>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup className={styles['popup']} aria-label={name}>
          <input
            className={styles['input']}
            role="combobox"
            aria-label={label}
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={found.length > 0 ? `command-${at}` : undefined}
            placeholder={label}
            value={text}
            onKeyDown={onKeyDown}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(0);
            }}
          />
          <div id="commands" role="listbox" aria-label="Found" className={styles['list']}>
            {found.map((command, index) => (
              <div
                key={command.id}
                id={`command-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                className={styles['option']}
                onPointerMove={() => setChosen(index)}
                onClick={() => run(command)}
                onKeyDown={onKeyDown}
              >
                <Icon name={command.icon} />
                <span className={styles['label']} title={command.label}>
                  {command.label}
                </span>
                <span className={styles['note']}>{command.note}</span>
              </div>
            ))}
          </div>
          {found.length === 0 && <p className={styles['none']}>No matches.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Returns how well a path matches the typed text, lower is better; undefined if it does not match. */
function matchRank(path: string, typed: string): number | undefined {
  const [text, wanted] = [path.toLowerCase(), typed.trim().toLowerCase()];
  const name = text.slice(text.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (text.includes(wanted)) return 2;
  return hasLettersOf(text, wanted) ? 3 : undefined;
}

/** Whether the letters occur in this order, as in `lgn` for `login`. */
function hasLettersOf(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** Returns the matching paths, best first. */
export function findMatches(paths: readonly string[], typed: string, maxCount: number): string[] {
  return paths
    .flatMap((path) => {
      const rank = matchRank(path, typed);
      return rank === undefined ? [] : [{ path, rank }];
    })
    .toSorted((one, other) => one.rank - other.rank || one.path.length - other.path.length)
    .slice(0, maxCount)
    .map(({ path }) => path);
}
