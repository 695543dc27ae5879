import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState, type KeyboardEvent } from 'react';

import { deviceName } from '../devices/device-name.ts';
import { devicesQuery } from '../devices/queries.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { popupRoot } from '../parts/popup-root.ts';
import { projectsQuery } from '../projects/queries.ts';
import styles from './command-palette.module.css';
import { setTheme } from './theme.ts';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly note: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const mostShown = 50;

function useCommands(): readonly Command[] {
  const navigate = useNavigate();
  const { data: devices = [] } = useQuery(devicesQuery);
  const { data: projects = [] } = useQuery(projectsQuery);
  return useMemo(() => {
    const page = (label: string, note: string, icon: IconName, to: string): Command => ({
      ...{ id: to, label, note, icon },
      run: () => void navigate({ to }),
    });
    const theme = (name: 'light' | 'dark' | 'system', label: string): Command => ({
      ...{ id: name, label, note: 'Theme', icon: 'sun' },
      run: () => setTheme(name),
    });
    return [
      page('Fleet', 'g f', 'fleet', '/devices'),
      page('Projects', 'g p', 'projects', '/projects'),
      page('Runs', 'g r', 'runs', '/runs'),
      page('Review', 'g v', 'records', '/records'),
      page('Settings', 'g s', 'settings', '/settings'),
      page('First steps', 'Page', 'help', '/start'),
      theme('light', 'Light theme'),
      theme('dark', 'Dark theme'),
      theme('system', 'Theme of the system'),
      ...projects.map(({ id, name }) => page(name, 'Project', 'projects', `/projects/${id}`)),
      ...devices.map((device) =>
        page(
          `${deviceName(device)} · ${device.serial}`,
          device.state,
          'fleet',
          `/devices/${device.device_id}`,
        ),
      ),
    ];
  }, [navigate, devices, projects]);
}

/** Ctrl+K: everything that has a name. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const commands = useCommands();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const words = useDeferredValue(text).toLowerCase().split(/\s+/);
  const found = commands
    .filter(({ label, note }) => words.every((word) => `${label} ${note}`.toLowerCase().includes(word)))
    .slice(0, mostShown);
  const at = Math.min(chosen, found.length - 1);
  const run = (command: Command | undefined): void => {
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
        <Dialog.Popup className={styles['popup']} aria-label="Find">
          <input
            className={styles['input']}
            role="combobox"
            aria-label="Find a page, phone or project"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={found.length > 0 ? `command-${at}` : undefined}
            placeholder="Find a page, phone or project"
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
                <span className={styles['label']}>{command.label}</span>
                <span className={styles['note']}>{command.note}</span>
              </div>
            ))}
          </div>
          {found.length === 0 && <p className={styles['none']}>Nothing has that name.</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
