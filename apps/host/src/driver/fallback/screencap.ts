import { DriverError } from '../driver-error.ts';
import { findMainPanel } from '../pictures/main-panel.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Maximum length in bytes of the warnings before the picture. */
const maxWarningBytes = 16 * 1024;

/** Picture that the phone has taken; its file may still be in transfer. */
export interface Shot {
  readonly file: Promise<Buffer>;
}

/**
 * Takes the screen as a PNG file with Android's own command, in one round trip. Resolves as soon as the picture is
 * taken: `screencap` copies the pixels before it writes the first byte of the file, and encodes while it writes. With
 * several panels and none specified, it captures any of them and prints a warning before the picture.
 */
export async function screencap(shell: PhoneShell, signal: AbortSignal): Promise<Shot> {
  const panel = await findMainPanel(shell, signal);
  const taken = Promise.withResolvers<void>();
  let head: Buffer = Buffer.alloc(0);
  const onPart = (part: Uint8Array): void => {
    if (head.length > maxWarningBytes) return;
    head = Buffer.concat([head, part]);
    if (head.includes(pngSignature)) taken.resolve();
  };
  const command = panel === undefined ? 'screencap -p' : `screencap -p -d ${panel}`;
  const file = shell.exec(command, signal, onPart).then(cutPng);
  await Promise.race([taken.promise, file]);
  return { file };
}

function cutPng(output: Buffer): Buffer {
  const start = output.indexOf(pngSignature);
  if (start !== -1) return output.subarray(start);
  const said = output.toString('latin1').replace(/\s+/g, ' ').trim().slice(0, 200);
  throw new DriverError(
    'screen_not_readable',
    `The phone gave no picture of its screen, and its "screencap" printed ${said === '' ? 'nothing' : `"${said}"`}.`,
  );
}
