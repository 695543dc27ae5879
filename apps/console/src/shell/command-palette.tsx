import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';

import { deviceName } from '../devices/device-name.ts';
import { devicesQuery } from '../devices/queries.ts';
import type { IconName } from '../parts/icon.tsx';
import { Picker, type PickerItem } from '../parts/picker.tsx';
import { projectsQuery } from '../projects/queries.ts';
import { setTheme } from './theme.ts';

function useCommands(): readonly PickerItem[] {
  const navigate = useNavigate();
  const { data: devices = [] } = useQuery(devicesQuery);
  const { data: projects = [] } = useQuery(projectsQuery);
  return useMemo(() => {
    const page = (label: string, note: string, icon: IconName, to: string): PickerItem => ({
      ...{ id: to, label, note, icon },
      run: () => void navigate({ to }),
    });
    const theme = (name: 'light' | 'dark' | 'system', label: string): PickerItem => ({
      ...{ id: name, label, note: 'Theme', icon: 'sun' },
      run: () => setTheme(name),
    });
    return [
      page('Fleet', 'g f', 'fleet', '/devices'),
      page('Projects', 'g p', 'projects', '/projects'),
      page('Runs', 'g r', 'runs', '/runs'),
      page('Jobs', 'g j', 'jobs', '/jobs'),
      page('Review', 'g v', 'records', '/groups'),
      page('Records', '', 'records', '/records'),
      page('Settings', 'g s', 'settings', '/settings'),
      page('Statistics', 'Page', 'runs', '/stats'),
      page('Webhooks', 'Page', 'settings', '/webhooks'),
      page('Help', 'Page', 'help', '/help'),
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
  const find = (text: string): readonly PickerItem[] => {
    const words = text.toLowerCase().split(/\s+/);
    return commands.filter(({ label, note }) =>
      words.every((word) => `${label} ${note}`.toLowerCase().includes(word)),
    );
  };
  return <Picker label="Find a page, phone or project" name="Find" find={find} onClose={onClose} />;
}
