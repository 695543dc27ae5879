import {
  type AgentCallParams,
  type DialogButton,
  type DialogButtons,
  findDialogButtons,
  findSystemDialogButtons,
  type UiNode,
} from '@phalanx/protocol';

import { DriverError } from './driver-error.ts';
import { findLabelled } from './find-labelled.ts';
import type { MaskedScreen } from './masks/masked-screen.ts';
import { touchedOf } from './touch/find-touched.ts';
import type { TouchFinder } from './touch/touch-finder.ts';
import type { UiBackend } from './ui-backend.ts';

const keyBack = 4;

interface AlertParts {
  readonly screen: Pick<MaskedScreen, 'read' | 'readWindows'>;
  readonly backend: Pick<UiBackend, 'source' | 'tap' | 'pressKey'>;
  readonly finder: Pick<TouchFinder, 'pointOf'>;
}

/**
 * Presses a button of the dialog in front, in the same way for each source of the screen, because the UiAutomator2
 * server's own calls know only two kinds of dialogs. Returns the label of the pressed button, or `BACK` when only that
 * key dismisses the dialog. Throws `covered` when another window covers the button.
 */
export async function pressAlert(
  { screen, backend, finder }: AlertParts,
  press: AgentCallParams<'alert.press'>,
  signal: AbortSignal,
): Promise<string> {
  const dialog = await findDialog(screen, backend.source, signal);
  if (dialog === undefined) throw noAlert('No dialog with buttons is on the screen.');
  const chosen = chooseButton(dialog, press);
  if (chosen === undefined) {
    await backend.pressKey(keyBack, signal);
    return 'BACK';
  }
  if (!chosen.node.enabled)
    throw noAlert(`The button ${quote(chosen.label)} of the dialog is off. ${namesOf(dialog)}`);
  const on = touchedOf(chosen.node);
  await backend.tap(await finder.pointOf({ ...middleOf(chosen.node), on }, signal), signal);
  return chosen.label;
}

/** Finds the dialog. Some dialogs of Android, such as for saving a password, have a window that gets no focus. */
async function findDialog(
  screen: AlertParts['screen'],
  source: UiBackend['source'],
  signal: AbortSignal,
): Promise<DialogButtons | undefined> {
  const inFront = findDialogButtons((await screen.read(signal)).tree.root);
  if (inFront !== undefined || source === 'dump') return inFront;
  const windows = await screen.readWindows(signal);
  return windows.map(findSystemDialogButtons).find((found) => found !== undefined);
}

/** Chooses the button; undefined when only the key BACK dismisses the dialog. */
function chooseButton(
  dialog: DialogButtons,
  { answer, button }: AgentCallParams<'alert.press'>,
): DialogButton | undefined {
  if (button === undefined) return answer === 'accept' ? getAccepting(dialog) : dialog.dismiss;
  const named = findLabelled(dialog, button);
  if (named !== undefined) return named;
  throw noAlert(`The dialog in front has no button ${quote(button)}. ${namesOf(dialog)}`);
}

function getAccepting(dialog: DialogButtons): DialogButton {
  if (dialog.accept !== undefined) return dialog.accept;
  throw noAlert(`The dialog in front has no button that accepts. ${namesOf(dialog)}`);
}

const maxNamed = 10;

function namesOf({ all }: DialogButtons): string {
  const labels = all
    .slice(0, maxNamed)
    .map(({ label, node }) => quote(label) + (node.enabled ? '' : ' (off)'));
  return `Its buttons: ${labels.join(', ')}.`;
}

const quote = (label: string): string => JSON.stringify(label.slice(0, 100));

const noAlert = (sentence: string): DriverError => new DriverError('no_alert', sentence);

function middleOf({ boundsInScreen: { left, right, top, bottom } }: UiNode): { x: number; y: number } {
  return { x: (left + right) >> 1, y: (top + bottom) >> 1 };
}
