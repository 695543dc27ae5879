import type { ScreenTree, UiNode } from '@phalanx/protocol';
import { pino, type Logger } from 'pino';
import type { Address } from '@phalanx/settings';

import { createDriver, type Driver } from '../../driver/driver.ts';
import { createFallbackBackend } from '../../driver/fallback/fallback-backend.ts';
import { Renewals } from '../../driver/renewals.ts';
import { createPhoneShell, type PhoneShell } from '../../driver/shell/phone-shell.ts';
import { stopHelper } from '../../driver/uiautomator2/start-helper.ts';
import type { UiBackend } from '../../driver/ui-backend.ts';
import { pause, withTimeLimit } from '../../time/time-limit.ts';
import type { PhoneDescription } from '../phone.ts';
import { readDescription } from '../start/read-description.ts';
import { startHelperOnce } from '../start/start-backend.ts';
import { placeOf } from '../../adb/adb-server-device.ts';
import { listDevices, watchAdbServer } from '../../adb/adb-server.ts';
import { watchAddress } from '../../adb/direct-tcp.ts';
import { loadHostKey } from '../../adb/host-key.ts';
import type { AdbConnection, Link, LinkSource } from '../../adb/link.ts';

const ways = ['uiautomator2', 'resident', 'dump'] as const;

const timeoutMs = 20_000;

type Way = (typeof ways)[number];

/** Apps that are checked after the named ones, where the phone has them. */
const commonApps = [
  'com.android.settings',
  'com.android.chrome',
  'com.android.vending',
  'com.google.android.deskclock',
  'com.google.android.apps.maps',
  'com.google.android.contacts',
  'com.android.contacts',
  'com.google.android.dialer',
  'com.google.android.documentsui',
  'com.android.documentsui',
  'com.google.android.calendar',
  'dev.phalanx.sample.form',
  'dev.phalanx.sample.surprise',
];
const maxScreens = 10;
const readings = 3;
/** Time for a screen to settle, in milliseconds. */
const settleMs = 1500;
const clipboardText = 'Phalanx é 日本 😀';
const keyWakeUp = 224;
const keyHome = 3;

interface PhoneCheck extends Omit<WantedPhone, 'log'> {
  /** Packages whose first screen is checked, in addition to the usual ones. */
  readonly apps: readonly string[];
  readonly onProgress: (sentence: string) => void;
  /** Time for a screen to settle, in milliseconds. Default 1500. */
  readonly settleMs?: number;
}

interface WayReport {
  readonly way: Way;
  /** Reason why this way does not work; undefined when it works. */
  readonly failure?: string;
  readonly start_ms?: number;
  readonly key_ms?: readonly number[];
  readonly tap_ms?: readonly number[];
  /** Whether the clipboard returned the written text. */
  readonly clipboard?: boolean | string;
  /** Number of windows seen with the notifications open. */
  readonly windows?: number | string;
  /** Figures by name of the screen. */
  readonly screens: Readonly<Record<string, ScreenFigures | { readonly failure: string }>>;
}

/** Report on a phone. It contains no text from a screen and nothing that identifies the owner of the phone. */
export interface PhoneReport {
  readonly phone: Pick<
    PhoneDescription,
    'brand' | 'model' | 'androidVersion' | 'sdkVersion' | 'securityPatch'
  >;
  readonly ways: readonly WayReport[];
  /** Texts that `way` misses or places elsewhere, compared with `against`. */
  readonly differences: readonly (ScreenDifference & { screen: string; way: Way; against: Way })[];
}

interface Seen {
  readonly report: WayReport;
  readonly trees: ReadonlyMap<string, ScreenTree>;
}

/** Reads the same screens of a phone by each way in turn. Nobody else may use the phone meanwhile. */
export async function checkPhone(check: PhoneCheck): Promise<PhoneReport> {
  const opened = await openPhone({ ...check, log: pino({ level: 'silent' }) });
  const { connection } = opened;
  try {
    const shell = createPhoneShell(connection);
    const phone = await readDescription(shell, connection.gone);
    const seen: Seen[] = [];
    for (const way of ways) {
      check.onProgress(`Reading the phone by ${way}.`);
      seen.push(await lookBy(way, shell, phone, check));
    }
    const { brand, model, androidVersion, sdkVersion, securityPatch } = phone;
    return {
      phone: { brand, model, androidVersion, sdkVersion, securityPatch },
      ways: seen.map(({ report }) => report),
      differences: differencesOf(seen),
    };
  } finally {
    connection.close('The check is over');
    await opened.close();
  }
}

function differencesOf(seen: readonly Seen[]): PhoneReport['differences'] {
  return seen.flatMap((one) =>
    seen
      .filter((other) => other !== one)
      .flatMap((other) =>
        [...one.trees].flatMap(([screen, tree]) => {
          const against = other.trees.get(screen);
          if (against === undefined) return [];
          const difference = differenceOf(tree, against);
          return [{ screen, way: one.report.way, against: other.report.way, ...difference }];
        }),
      ),
  );
}

async function startBackendOf(way: Way, shell: PhoneShell, phone: PhoneDescription): Promise<UiBackend> {
  const signal = shell.connection.gone;
  await stopHelper(shell, signal);
  if (way === 'dump') return createFallbackBackend(shell);
  const start = { shell, phone, signal, renewals: new Renewals(), onLaunched: () => {} };
  return await startHelperOnce(start, way);
}

async function lookBy(
  way: Way,
  shell: PhoneShell,
  phone: PhoneDescription,
  check: PhoneCheck,
): Promise<Seen> {
  const trees = new Map<string, ScreenTree>();
  const began = performance.now();
  let backend: UiBackend;
  try {
    backend = await startBackendOf(way, shell, phone);
  } catch (error) {
    return { report: { way, failure: sentenceOf(error), screens: {} }, trees };
  }
  const startMs = Math.round(performance.now() - began);
  try {
    const driver = createDriver({
      serial: 'checked',
      shell,
      backend,
      deviceInfo: () => ({ ...phone, serial: 'checked', deviceId: 'checked' }),
    });
    const screens = await readScreens(driver, trees, check);
    return { report: { way, start_ms: startMs, ...(await tryInput(driver)), screens }, trees };
  } finally {
    backend.close();
  }
}

async function readScreens(
  driver: Driver,
  trees: Map<string, ScreenTree>,
  check: PhoneCheck,
): Promise<WayReport['screens']> {
  const screens: Record<string, ScreenFigures | { failure: string }> = {};
  for (const [name, open] of await screensOf(driver, check)) {
    try {
      await driver.call('navigate.home', {});
      await open();
      await pause(check.settleMs ?? settleMs, new AbortController().signal);
      const readMs: number[] = [];
      for (let reading = 0; reading < readings; reading += 1)
        readMs.push(await timeOf(async () => trees.set(name, await driver.call('screen.content', {}))));
      const tree = trees.get(name);
      if (tree !== undefined) screens[name] = figuresOf(tree, readMs);
    } catch (error) {
      screens[name] = { failure: sentenceOf(error) };
    }
  }
  return screens;
}

async function screensOf(
  driver: Driver,
  { apps }: PhoneCheck,
): Promise<ReadonlyMap<string, () => Promise<unknown>>> {
  const installed = new Set((await driver.call('app.list', {})).map(({ packageName }) => packageName));
  const opened = [...new Set([...apps, ...commonApps])].filter((name) => installed.has(name));
  return new Map<string, () => Promise<unknown>>(
    [
      ['home', async () => {}] as const,
      ['notifications', () => driver.call('navigate.notifications', {})] as const,
      ['recent apps', () => driver.call('navigate.recents', {})] as const,
      ...opened.map(
        (packageName) => [packageName, () => driver.call('app.launch', { packageName })] as const,
      ),
    ].slice(0, maxScreens),
  );
}

async function tryInput(driver: Driver): Promise<Partial<WayReport>> {
  const told = <T>(work: () => Promise<T>): Promise<T | string> => work().catch(sentenceOf);
  const several = async (work: () => Promise<unknown>): Promise<number[]> => {
    const times: number[] = [];
    for (let at = 0; at < readings; at += 1) times.push(Math.round(await timeOf(work)));
    return times;
  };
  const input: { key_ms?: number[]; tap_ms?: number[] } = {};
  await told(async () => {
    input.key_ms = await several(() => driver.call('input.key', { keyCode: keyWakeUp }));
    // Taps the top left corner: it belongs to the status bar, where a tap does nothing.
    input.tap_ms = await several(() => driver.call('input.tap', { x: 1, y: 1 }));
  });
  const windows = await told(async () => {
    await driver.call('navigate.notifications', {});
    return (await driver.call('screen.windows', {})).length;
  });
  await told(() => driver.call('input.key', { keyCode: keyHome }));
  const clipboard = await told(async () => {
    await driver.call('clipboard.write', { text: clipboardText });
    return (await driver.call('clipboard.read', {})) === clipboardText;
  });
  return { ...input, windows, clipboard };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message.slice(0, 400) : String(error);

interface WantedPhone {
  /** Serial number at an ADB server, or its USB port (`usb:1-4`). Undefined for a phone at an address. */
  readonly serial: string | undefined;
  /** Address of the ADB server, or of the phone. */
  readonly address: Address;
  /** Folder with the ADB key. */
  readonly dataDir: string;
  readonly log: Logger;
}

interface OpenedPhone {
  readonly connection: AdbConnection;
  close(): Promise<void>;
}

/** Throws when several phones at the ADB server share this serial number, as tablets of one series do. */
async function requireOne(serial: string, address: Address): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  // A missing server is no error here: the connection waits for it.
  const listed = await listDevices(address, signal).catch(() => []);
  const places = listed.filter((device) => device.serial === serial).map(placeOf);
  if (places.length < 2) return;
  throw new Error(
    `${places.length} phones have the serial number ${serial}. Name one by its USB port instead: ${places.join(', ')}.`,
  );
}

/** Connects to a single phone without starting anything on it. */
async function openPhone(wanted: WantedPhone): Promise<OpenedPhone> {
  const { serial, address, dataDir, log } = wanted;
  if (serial !== undefined) await requireOne(serial, address);
  const found = Promise.withResolvers<AdbConnection>();
  let trouble = 'It is not in the list of the ADB server.';
  const onLink = ({ name, place, status }: Link): void => {
    if (serial !== undefined && name !== serial && place !== serial) return;
    if (status.state === 'connected') found.resolve(status.connection);
    else trouble = status.reason;
  };
  const source: LinkSource =
    serial === undefined
      ? watchAddress({ address, key: await loadHostKey(dataDir), onLink })
      : watchAdbServer({ address, log, onLink });
  const onTimeout = (): Error =>
    new Error(`The phone could not be reached in ${timeoutMs / 1000} s. ${trouble}`);
  try {
    const connection = await withTimeLimit({ timeoutMs, onTimeout }, () => found.promise);
    return { connection, close: () => source.close() };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Figures of a screen as read by one way, without any text from it. */
interface ScreenFigures {
  readonly nodes: number;
  readonly texts: number;
  readonly read_ms: readonly number[];
}

/** Differences from the same screen as read by another way. */
interface ScreenDifference {
  /** Number of texts and descriptions that are missing. */
  readonly missing_texts: number;
  /** Number of texts that both ways read, but at different places. */
  readonly moved_texts: number;
}

const nodesOf = (node: UiNode): UiNode[] => [node, ...node.children.flatMap((child) => nodesOf(child))];

/** Returns the places of each text. A text may occur at several places. */
function placesOf(root: UiNode): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const { text, description, boundsInScreen } of nodesOf(root))
    for (const told of [text, description]) {
      if (told === null) continue;
      const known = places.get(told) ?? new Set();
      places.set(told, known.add(JSON.stringify(Object.values(boundsInScreen))));
    }
  return places;
}

function figuresOf({ root }: ScreenTree, readMs: readonly number[]): ScreenFigures {
  return {
    nodes: nodesOf(root).length,
    texts: placesOf(root).size,
    read_ms: readMs.map((ms) => Math.round(ms)),
  };
}

/** Returns the differences of `one` from `other`. */
function differenceOf(one: ScreenTree, other: ScreenTree): ScreenDifference {
  const [here, there] = [placesOf(one.root), placesOf(other.root)];
  const texts = [...there.keys()];
  const isMoved = (text: string): boolean => {
    const places = here.get(text);
    return places !== undefined && places.isDisjointFrom(there.get(text) ?? new Set());
  };
  return {
    missing_texts: texts.filter((text) => !here.has(text)).length,
    moved_texts: texts.filter((text) => isMoved(text)).length,
  };
}
