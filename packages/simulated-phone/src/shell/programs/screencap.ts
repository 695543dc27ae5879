import { FileSystemError } from '../../adb/sync-files.ts';
import type { PictureFormat } from '../../screen/picture.ts';
import type { Phone } from '../../phone.ts';
import type { Program } from '../program.ts';

const rgba8888 = 1;

const displaysWarning =
  '[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, ' +
  'however this default is not guaranteed to be consistent across captures.\n' +
  'A display ID can be specified with the [-d display-id] option.\n';

async function takePicture(phone: Phone, format: PictureFormat): Promise<Buffer> {
  const picture = await phone.camera.takeForShell(format);
  if (format !== 'raw') return picture;
  const { width, height } = phone.android.screen;
  const header = Buffer.alloc(16);
  for (const [index, value] of [width, height, rgba8888, 1].entries()) header.writeUInt32LE(value, index * 4);
  return Buffer.concat([header, picture]);
}

/** `screencap [-p|-j] [-d DISPLAY] [FILE]`; to standard output without a file. */
export const screencap: Program = async ({ phone, args, stdout, stderr }) => {
  const path = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-d');
  const isPng = args.includes('-p') || path?.endsWith('.png') === true;
  const picture = await takePicture(phone, isPng ? 'png' : args.includes('-j') ? 'jpeg' : 'raw');
  if (path === undefined) {
    if (phone.faults.screencapWarning && !args.includes('-d')) await stdout.write(displaysWarning);
    await stdout.write(picture);
    return 0;
  }
  try {
    phone.android.files.writeFile(path, picture);
    return 0;
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
    await stderr.write(`Error opening file: ${path} (${error.message})\n`);
    return 1;
  }
};
