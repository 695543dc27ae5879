import { FileSystemError } from '../../adb/sync-files.ts';
import { findUiautomatorXml } from '../../screen/uiautomator-xml.ts';
import { pause } from '../../pause.ts';
import type { Process, Program } from '../program.ts';

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
  // Only one UiAutomation can be registered; a running UiAutomator2 server has it.
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
  const xml = fault === 'null-root' ? undefined : findUiautomatorXml(phone.android.screen, { compressed });
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
