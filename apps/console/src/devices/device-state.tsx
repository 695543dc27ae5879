import type { Device } from '@phalanx/protocol';

import { Mark, type MarkLook } from '../parts/mark.tsx';

export type DeviceState = Device['state'];

export const stateLooks: Record<DeviceState, MarkLook> = {
  ready: { tone: 'ready', glyph: '●', word: 'ready' },
  busy: { tone: 'busy', glyph: '▶', word: 'busy' },
  connecting: { tone: 'waiting', glyph: '◌', word: 'connecting' },
  booting: { tone: 'waiting', glyph: '◌', word: 'booting' },
  unauthorized: { tone: 'act', glyph: '▲', word: 'unauthorized' },
  no_permissions: { tone: 'act', glyph: '▲', word: 'no permissions' },
  locked: { tone: 'act', glyph: '▲', word: 'locked' },
  resting: { tone: 'waiting', glyph: '◌', word: 'resting' },
  recovery: { tone: 'act', glyph: '▲', word: 'recovery' },
  sideload: { tone: 'act', glyph: '▲', word: 'sideload' },
  bootloader: { tone: 'act', glyph: '▲', word: 'bootloader' },
  helper_failed: { tone: 'broken', glyph: '◆', word: 'helper failed' },
  unresponsive: { tone: 'broken', glyph: '◆', word: 'unresponsive' },
  offline: { tone: 'offline', glyph: '⊘', word: 'offline' },
};

export const DeviceStateMark = ({ state }: { state: DeviceState }) => <Mark {...stateLooks[state]} />;

/** Whether it takes a launch now. */
export const isReady = ({ state }: Pick<Device, 'state'>): boolean => state === 'ready' || state === 'busy';

/** Whether somebody has to do something about it. */
export const needsAttention = ({ state, warnings }: Pick<Device, 'state' | 'warnings'>): boolean =>
  warnings.length > 0 || ['act', 'broken', 'offline'].includes(stateLooks[state].tone);

/** What there is to say besides the state. */
export const reasonShown = ({
  state,
  reason,
  warnings,
}: Pick<Device, 'state' | 'reason' | 'warnings'>): string =>
  [...(state === 'ready' ? [] : [reason]), ...warnings.map((warning) => warning.reason)].join(' ');
