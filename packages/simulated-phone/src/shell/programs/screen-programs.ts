import { FileSystemError } from '../../adb/services.ts';
import { findUiautomatorXml } from '../../screen/uiautomator-xml.ts';
import { pause } from '../../pause.ts';
import type { Process, Program } from '../program.ts';
import type { PictureFormat } from '../../screen/camera.ts';
import type { Phone } from '../../phone.ts';
import { listed, mainPanel, type OtherDisplay } from '../../screen/other-display.ts';

const defaultPath = '/sdcard/window_dump.xml';
const killedExitCode = 137;
const idleTimeoutMs = 200;

async function writeDump({ phone, stdout, stderr }: Process, path: string, xml: string): Promise<number> {
  const noise =
    phone.faults.uiautomator === 'noise-before-xml'
      ? 'ro.vivo.product.overseas not set\nUpdateDebuggable: false\n'
      : '';
  if (path === '/dev/tty') {
    await stdout.write(`${noise}${xml}UI hierchary dumped to: ${path}\n`);
    return 0;
  }
  try {
    phone.android.files.writeFile(path, Buffer.from(xml));
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
    await stderr.write(`java.io.FileNotFoundException: ${path}: open failed: EACCES (${error.message})\n`);
    return 1;
  }
  await stdout.write(`${noise}UI hierchary dumped to: ${path}\n`);
  return 0;
}

async function dump(process: Process): Promise<number> {
  const { phone, args, stderr, signal } = process;
  const fault = phone.faults.uiautomator;
  // Android allows one UiAutomation at a time, which a running UiAutomator2 server holds.
  if (fault === 'killed' || phone.instrumentation.isUiAutomationTaken) {
    await stderr.write('Killed \n');
    return killedExitCode;
  }
  if (fault === 'idle') {
    await pause(signal, idleTimeoutMs);
    await stderr.write('ERROR: could not get idle state.\n');
    return 0;
  }
  phone.faults.beforeReading?.();
  const compressed = args.includes('--compressed');
  const losesEmoji = phone.faults.dumpLosesEmoji;
  const xml =
    fault === 'null-root' ? undefined : findUiautomatorXml(phone.android.screen, { compressed, losesEmoji });
  if (xml === undefined) {
    await stderr.write('ERROR: null root node returned by UiTestAutomationBridge.\n');
    return 0;
  }
  const path = args.slice(1).find((arg) => !arg.startsWith('--')) ?? defaultPath;
  return writeDump(process, path, xml);
}

export const uiautomator: Program = async (process) => {
  if (process.args[0] === 'dump') return dump(process);
  await process.stderr.write(
    'Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\nhelp\nruntest\ndump\nevents\n',
  );
  return 1;
};

const rgba8888 = 1;

// AOSP 14 and newer, frameworks/base/cmds/screencap/screencap.cpp; it then captures the first panel too.
const displaysWarning =
  '[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, ' +
  'however this default is not guaranteed to be consistent across captures. A display id should be specified.\n' +
  'A display ID can be specified with the [-d display-id] option.\n' +
  'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n';

interface Panel {
  readonly id: string;
  /** Other display; undefined for the main one. */
  readonly other?: OtherDisplay;
}

function panelsOf({ android }: Phone): Panel[] {
  const withPanel = android.otherDisplays.filter(({ physicalId }) => physicalId !== undefined);
  return listed<Panel>({ id: mainPanel }, withPanel, (other) => ({ id: other.physicalId ?? '', other }));
}

async function takePicture(phone: Phone, { other }: Panel, format: PictureFormat): Promise<Buffer> {
  const screen = other === undefined ? phone.android.screen : { ...other, rotation: 0 };
  const picture =
    other === undefined
      ? await phone.camera.takeForShell(format)
      : await phone.camera.takeOther(screen, format);
  if (format !== 'raw') return picture;
  const { width, height } = screen;
  const header = Buffer.alloc(16);
  for (const [index, value] of [width, height, rgba8888, 1].entries()) header.writeUInt32LE(value, index * 4);
  return Buffer.concat([header, picture]);
}

/** Whether the version prints a warning; older ones choose silently. */
const hasWarning = ({ android }: Phone) => android.identity.sdkVersion >= 34;

/** Runs `screencap [-p|-j] [-d DISPLAY] [FILE]`; writes to standard output without a file. */
export const screencap: Program = async ({ phone, args, stdout, stderr }) => {
  const path = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-d');
  const isPng = args.includes('-p') || path?.endsWith('.png') === true;
  const panels = panelsOf(phone);
  const wanted = args.includes('-d') ? args[args.indexOf('-d') + 1] : undefined;
  const panel = wanted === undefined ? panels[0] : panels.find(({ id }) => id === wanted);
  // A logical display ID is not a panel ID.
  if (panel === undefined) {
    await stderr.write('Failed to take screenshot. Status: -2\nCapturing failed.\n');
    return 1;
  }
  const picture = await takePicture(phone, panel, isPng ? 'png' : args.includes('-j') ? 'jpeg' : 'raw');
  if (path === undefined) {
    const isWarned = phone.faults.screencapWarning || (panels.length > 1 && hasWarning(phone));
    if (isWarned && wanted === undefined) await stderr.write(displaysWarning);
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
