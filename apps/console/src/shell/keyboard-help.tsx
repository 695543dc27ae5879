import { useStore } from '../api/store.ts';
import { Dialog } from '../parts/dialog.tsx';
import { setSingleKeys, singleKeys } from '../parts/keys.ts';
import styles from './keyboard-help.module.css';

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
      ['r', 'Open again'],
      ['a', 'Assign to yourself, or to nobody'],
      ['x', 'Select for merging'],
      ['m', 'Merge what is selected into this group'],
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
