import type { StepAim } from '@phalanx/protocol';
import { searchOf } from '../nodes/android-node-filter.ts';

type Args = readonly unknown[];
type AimOf = (args: Args) => StepAim;

/** Limits of the host: length of a target in characters, and absolute value of a coordinate. */
const maxTargetLength = 200;
const maxPlace = 1_000_000;

/** Target of each call of `agent`. A call without a row is reported by its name alone. */
const aims: Readonly<Record<string, AimOf>> = {
  tap: touch,
  doubleTap: touch,
  longPress: touch,
  hold: touch,
  pinch: touch,
  swipe: way,
  drag: way,
  writeText: length,
  setClipboard: length,
  inputKey: key,
  dpad: word,
  acceptAlert: quoted,
  dismissAlert: quoted,
  rotate: word,
  setAnimations: ([isOn]) => ({ target: isOn === true ? 'on' : 'off' }),
  setPhoneSettings: ([settings]) => said(namesIn(settings)),
  openLink: link,
  launchApp: word,
  stopApp: word,
  sleep: ([durationMs]) => ({ target: `${String(durationMs)} ms` }),
  waitForText: search,
  waitForNode: search,
  waitForTextGone: search,
  scrollTo: search,
  waitForId: ([viewId]) => said(`#${String(viewId)}`),
  waitForApp: word,
  waitFor: ([predicate, options]) => said(descriptionIn(options) ?? sourceOf(predicate)),
  'apps.install': ([apk]) => said(typeof apk === 'string' ? apk : `${sizeOf(apk)} bytes`),
  'apps.uninstall': word,
  'apps.clearData': word,
  'apps.grantPermission': words,
  'apps.revokePermission': words,
  'run.attach': word,
  'secrets.get': word,
  'secrets.type': word,
  'files.list': word,
  'files.read': word,
  'files.write': word,
  'files.delete': word,
  shell: ([command]) => said(`${String(command).trim().split(/\s/, 1)[0] ?? ''} …`),
  'outOfSteps.storeScreen': ([, stage, state]) => said(`${String(stage)} · ${String(state)}`),
  'outOfSteps.submit': words,
  'job.submitTask': word,
  'job.submitTaskToAnotherJob': word,
  debug: word,
};

export const aimOfCall = (name: string, args: Args): StepAim =>
  Object.hasOwn(aims, name) ? (aims[name]?.(args) ?? {}) : {};

/** Describes a node so that a person can find it. Excludes the content of fields. */
export function aimOfNode(node: AndroidNode): StepAim {
  const { viewId, className, boundsInScreen } = node;
  const { left, top, right, bottom } = boundsInScreen;
  const parts = [
    className?.split('.').at(-1) ?? '',
    viewId === undefined ? '' : `#${viewId.split('/').at(-1) ?? ''}`,
    isField(node) ? '' : quote(node.text ?? node.description),
  ];
  return { ...said(parts.filter((text) => text !== '').join(' ')), node: [left, top, right, bottom] };
}

/** Whether values are typed into the node. */
const isField = ({ isPassword, className, maxTextLength, inputType }: AndroidNode): boolean =>
  isPassword || maxTextLength > 0 || (className?.includes('EditText') ?? false) || isTyped(inputType);

const namesIn = (value: unknown): string =>
  typeof value === 'object' && value !== null ? Object.keys(value).join(', ') : '';

const isTyped = (inputType: unknown): boolean =>
  inputType !== undefined && inputType !== null && !['', '0', 'null', 'none'].includes(textOf(inputType));

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

export const said = (text: string): StepAim => ({
  target: text.length > maxTargetLength ? `${text.slice(0, maxTargetLength - 1)}…` : text.toWellFormed(),
});

function quote(text: unknown): string {
  return text === undefined || text === null || text === '' ? '' : `"${textOf(text)}"`;
}

function touch([x, y]: Args): StepAim {
  const places = placesIn([x, y]);
  return places.length === 2 ? { point: places } : {};
}

function way(args: Args): StepAim {
  const places = placesIn(args.slice(0, 4));
  return places.length === 4 ? { swipe: places } : {};
}

/** Drops coordinates that are on no screen. */
const placesIn = (args: Args): number[] =>
  args.flatMap((place) =>
    typeof place === 'number' && Math.abs(place) < maxPlace ? [Math.round(place)] : [],
  );

/** Reports the length of a typed text instead of the text, which may be secret. */
function length([text]: Args): StepAim {
  return { target: `${textOf(text).length} characters` };
}

/** Returns the name of a key. Keys that type a character are not reported. */
function key([wanted]: Args): StepAim {
  return typeof wanted === 'string' && wanted.replace(/^KEYCODE_/i, '').length > 1 ? said(wanted) : {};
}

function word([text]: Args): StepAim {
  return text === undefined ? {} : said(textOf(text));
}

function words(args: Args): StepAim {
  return said(args.filter((text) => typeof text === 'string').join(' '));
}

function quoted([text]: Args): StepAim {
  return text === undefined ? {} : said(quote(text));
}

/** Returns a link without its query, which may contain a secret. */
function link([url, packageName]: Args): StepAim {
  const address = textOf(url).split(/[?#]/, 1)[0] ?? '';
  return said(packageName === undefined ? address : `${address} in ${textOf(packageName)}`);
}

function search([target]: Args): StepAim {
  if (typeof target !== 'string' && typeof target !== 'function' && !(target instanceof RegExp)) return {};
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- functions given here are conditions
  return said(searchOf(target as string | RegExp | NodeConditions).awaited.replace(/^the text /, ''));
}

function descriptionIn(options: unknown): string | undefined {
  const isGiven = typeof options === 'object' && options !== null && 'description' in options;
  return isGiven && options.description !== undefined ? textOf(options.description) : undefined;
}

const sourceOf = (predicate: unknown): string => String(predicate).replaceAll(/\s+/g, ' ');

const sizeOf = (bytes: unknown): number => (bytes instanceof Uint8Array ? bytes.length : 0);
