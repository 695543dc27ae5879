import { randomBytes } from 'node:crypto';
import { pause } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { parseTree, type ParsedTree } from '../tree/parse-tree.ts';

const attempts = 3;
const pauseMs = 300;

export async function dumpTree(shell: PhoneShell, signal: AbortSignal): Promise<ParsedTree> {
  return parseTree(await dumpSource(shell, signal));
}

/** Reads the tree's XML by `uiautomator dump`: about two seconds, more when the screen moves. */
export async function dumpSource(shell: PhoneShell, signal: AbortSignal): Promise<string> {
  const failures: string[] = [];
  while (failures.length < attempts) {
    const outcome = await attemptDump(shell, signal);
    if (outcome.xml !== undefined) return outcome.xml;
    failures.push(outcome.said);
    await pause(pauseMs, signal);
    signal.throwIfAborted();
  }
  const said = [...new Set(failures)].join('; ');
  throw new DriverError(
    'screen_not_readable',
    `"uiautomator dump" gave no tree in ${attempts} attempts (${said}). ${await adviseOn(shell, said, signal)}`,
  );
}

/** The command exits with 0 after a failure and leaves an older file in place: only a fresh file name tells. */
async function attemptDump(
  shell: PhoneShell,
  signal: AbortSignal,
): Promise<{ xml: string | undefined; said: string }> {
  const path = `/data/local/tmp/phalanx-${randomBytes(6).toString('hex')}.xml`;
  try {
    const { stdout, stderr } = await shell.run(`uiautomator dump ${path}`, signal);
    const file = await shell.run(`cat ${path}`, signal);
    const said = `${stderr} ${stdout}`.replace(/\s+/g, ' ').trim().slice(0, 200);
    return { xml: cutXml(file.stdout), said: said || 'it printed nothing' };
  } finally {
    await shell.run(`rm -f ${path}`, signal).catch(() => {});
  }
}

/** Some vendors' builds print lines around the document. */
function cutXml(text: string): string | undefined {
  const start = text.indexOf('<?xml');
  const endTag = '</hierarchy>';
  const end = text.lastIndexOf(endTag);
  return start === -1 || end < start ? undefined : text.slice(start, end + endTag.length);
}

async function adviseOn(shell: PhoneShell, said: string, signal: AbortSignal): Promise<string> {
  const power = await shell.run('dumpsys power', signal).catch(() => undefined);
  if (/mWakefulness=(Asleep|Dozing)/.test(power?.stdout ?? ''))
    return 'The screen is off: press the key WAKEUP (224) first.';
  if (said.includes('idle state'))
    return 'Something on the screen moves all the time, such as a video or an animation.';
  return 'The screen may be locked or changing; or another program uses UiAutomation on this phone.';
}
