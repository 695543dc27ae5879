import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

// A viewport takes some 300 characters, and each display has one.
const longLines = { maxLineLength: 16_000 };

/**
 * Panels by phone, as queried. Panels are built in: their number never changes, but which of them is the main display
 * does.
 */
const panelsOf = new WeakMap<PhoneShell, readonly string[]>();

/** Whether the phone is known to have other panels than that of its main display. */
export const hasSeveralPanels = (shell: PhoneShell): boolean => (panelsOf.get(shell)?.length ?? 0) > 1;

/**
 * Finds SurfaceFlinger's number of the panel that is the main display now, which changes on a foldable. Undefined for a
 * phone with one panel. Rejects when a phone with several panels reports no main display, or several, which the name of
 * an app's virtual display can cause: a picture of another panel shows other content than the masks hide.
 */
export async function findMainPanel(shell: PhoneShell, signal: AbortSignal): Promise<string | undefined> {
  const panels = panelsOf.get(shell) ?? (await askPanels(shell, signal));
  if (panels.length < 2) return undefined;
  const { stdout } = await shell.run('dumpsys display | grep mViewports', signal, longLines);
  const viewports = [...stdout.matchAll(viewport)].filter(([, display]) => display === '0');
  const [main, ...others] = new Set(viewports.map(([, , panel]) => panel));
  if (main === undefined || others.length > 0)
    throw new DriverError(
      'screen_not_readable',
      `The phone has ${panels.length} panels, and ${main === undefined ? 'does not tell which one is' : 'tells of several that are'} its main display.`,
    );
  return panels.includes(main) ? main : undefined;
}

// AOSP, DisplayViewport.toString: "displayId=0, uniqueId='local:4619827259835644672'". The ID is 64 bits wide.
const viewport = /displayId=(\d{1,10}), uniqueId='local:(\d{1,20})'/g;

/**
 * Lists the panels. "dumpsys SurfaceFlinger --display-id" lists them from Android 10 on; before, it prints everything
 * it knows.
 */
async function askPanels(shell: PhoneShell, signal: AbortSignal): Promise<readonly string[]> {
  const { stdout, stderr } = await shell.run(
    "dumpsys SurfaceFlinger --display-id | grep '^Display '",
    signal,
  );
  const panels = [...stdout.matchAll(/^Display (\d{1,20}) \(HWC display \d{1,4}\)/gm)].map(
    ([, id = '']) => id,
  );
  // Caches nothing for a phone that did not answer, so that it is queried again.
  if (panels.length > 0 || stderr.trim() === '') panelsOf.set(shell, panels);
  return panels;
}
