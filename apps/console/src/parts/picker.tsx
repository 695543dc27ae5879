import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useDeferredValue, useState } from 'react';

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
  const found = find(useDeferredValue(text)).slice(0, maxShown);
  const run = (command: PickerItem): void => {
    onClose();
    command.run();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal container={popupRoot()}>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup className={styles['popup']} aria-label={name}>
          <Autocomplete.Root
            inline
            open
            items={found}
            filter={null}
            value={text}
            onValueChange={setText}
            itemToStringValue={(command) => command.label}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input className={styles['input']} aria-label={label} placeholder={label} />
            <Autocomplete.List className={styles['list']} aria-label="Found">
              {(command: PickerItem) => (
                <Autocomplete.Item
                  key={command.id}
                  value={command}
                  className={styles['option']}
                  onClick={() => run(command)}
                >
                  <Icon name={command.icon} />
                  <span className={styles['label']} title={command.label}>
                    {command.label}
                  </span>
                  <span className={styles['note']}>{command.note}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
            <Autocomplete.Empty className={styles['none']}>No matches.</Autocomplete.Empty>
          </Autocomplete.Root>
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
