import { tap } from '../android/input/touch.ts';
import { center } from '../view/rect.ts';
import { type VisibleView, walk } from '../view/find-view.ts';
import { bodies, parseBody } from './bodies.ts';
import { type Command, getTree, type Handler, requireInjection } from './command.ts';
import { WebDriverError } from './web-driver-error.ts';

const buttonId = /^android:id\/button\d$/;

/** All views of the open dialog. Throws "no such alert". */
async function getAlert(command: Command): Promise<VisibleView[]> {
  const views = walk(await getTree(command)).toArray();
  if (views.some(({ view }) => view.resourceId === 'android:id/alertTitle')) return views;
  throw new WebDriverError('no such alert', 'No alert is present on the screen');
}

export const alertText: Handler = async (command) =>
  (await getAlert(command))
    .filter(
      ({ view }) =>
        view.resourceId !== undefined && !buttonId.test(view.resourceId) && (view.text ?? '') !== '',
    )
    .map(({ view }) => view.text)
    .join('\n');

/** Accepting takes the button with the lowest number, dismissing the next one, unless a label is given. */
async function pressButton(command: Command, index: number): Promise<string> {
  const { buttonLabel } = parseBody(bodies.alert, command.body ?? {});
  requireInjection(command.phone, 'gesture');
  const buttons = (await getAlert(command))
    .filter(({ view }) => buttonId.test(view.resourceId ?? ''))
    .sort((a, b) => ((a.view.resourceId ?? '') < (b.view.resourceId ?? '') ? -1 : 1));
  const button = buttonLabel
    ? buttons.find(({ view }) => view.text === buttonLabel)
    : (buttons[index] ?? buttons[0]);
  if (!button)
    throw new WebDriverError('invalid element state', 'The expected button cannot be detected on the alert');
  tap(command.phone.android, center(button.bounds));
  return button.view.text ?? '';
}

export const acceptAlert: Handler = (command) => pressButton(command, 0);
export const dismissAlert: Handler = (command) => pressButton(command, 1);
