import { createHash } from 'node:crypto';
import { DeviceScreen } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { findExcess } from '../http/json-bounds.ts';
import { type Asked, askHost } from './ask-host.ts';

const validator = Compile(DeviceScreen);
/** Of a tree of many thousand nodes. */
const bounds = { depth: 2000, names: 500_000, values: 500_000 };

interface ScreenReply {
  /** JSON of the whole reply. */
  readonly body: string;
  /** The same for as long as the screen shows the same. */
  readonly etag: string;
}

/** What a phone shows now. */
export const readScreen = (asked: Asked, width: number | null): Promise<ScreenReply> =>
  askHost(asked, 'screen_failed', async (ask) =>
    screenReply(await ask({ type: 'screen', serial: asked.device.serial, width })),
  );

function screenReply(answer: Buffer): ScreenReply {
  const excess = findExcess(answer, bounds);
  if (excess !== undefined) throw new Error(`what its host answered ${excess}`);
  const screen: unknown = JSON.parse(answer.toString());
  if (!validator.Check(screen)) throw new Error('its host answered with something else');
  const { captured_at: _time, ...shown } = screen;
  const hash = createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
  return { body: JSON.stringify({ success: true, screen }), etag: `"${hash.slice(0, 22)}"` };
}
