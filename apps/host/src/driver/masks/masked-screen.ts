import type { Bounds, DeviceInfo, PhoneNotification, ScreenMask, UiNode } from '@phalanx/protocol';

import type { ParsedTree } from '../tree/parse-tree.ts';
import type { HiddenParts } from '../taken-picture.ts';
import type { UiBackend } from '../ui-backend.ts';
import { areasOf, hideMasked, isAreaMask, isHidden } from './hide-masked.ts';

export interface MaskedScreen {
  /** The trees without the texts of what is masked. */
  readTree(signal: AbortSignal): Promise<ParsedTree>;
  readWindows(signal: AbortSignal): Promise<UiNode[]>;
  hideNotifications(notifications: PhoneNotification[]): PhoneNotification[];
  /**
   * Takes a picture, and gives it with what it must not show. Where masked nodes are is read before and after it, because the
   * screen may move meanwhile; `read` is how. Rejects when the screen can't be read: of such a picture nothing is known.
   */
  take<Picture>(take: () => Promise<Picture>, read: ReadTree): Promise<[Picture, HiddenParts]>;
}

type ReadTree = () => Promise<ParsedTree>;

interface Options {
  readonly backend: Pick<UiBackend, 'readTree' | 'readWindows'>;
  readonly masks: () => readonly ScreenMask[];
  readonly deviceInfo: () => DeviceInfo;
}

/** A phone's screen as it may leave the host. */
export function createMaskedScreen({ backend, masks, deviceInfo }: Options): MaskedScreen {
  const hide = (root: UiNode, rotation: number, held: readonly ScreenMask[]): Bounds[] => {
    if (held.length === 0) return [];
    const { screenWidth, screenHeight } = deviceInfo();
    const [width, height] = rotation % 2 === 0 ? [screenWidth, screenHeight] : [screenHeight, screenWidth];
    return hideMasked(root, held, { width, height });
  };
  return {
    async readTree(signal) {
      const tree = await backend.readTree(signal);
      const held = masks();
      hide(tree.root, tree.rotation, held);
      const announced = tree.announced?.filter((text) => !isHidden(textOf('', text), held));
      return announced === undefined ? tree : { ...tree, announced };
    },
    async readWindows(signal) {
      const roots = await backend.readWindows(signal);
      // How the screen is turned is told with the tree alone.
      const held = masks();
      const { rotation } = held.some(isAreaMask) ? await backend.readTree(signal) : { rotation: 0 };
      for (const root of roots) hide(root, rotation, held);
      return roots;
    },
    hideNotifications: (notifications) =>
      notifications.map((one) => {
        const isMasked = [one.title, one.text].some((text) =>
          isHidden(textOf(one.packageName, text), masks()),
        );
        return isMasked ? { ...one, title: null, text: null } : one;
      }),
    async take(take, read) {
      const held = masks();
      const bounds = async (): Promise<Bounds[]> => {
        if (held.every(isAreaMask)) return [];
        const { root, rotation } = await read();
        return hide(root, rotation, held);
      };
      const before = await bounds();
      const picture = await take();
      const after = await bounds();
      return [picture, (size) => [...before, ...after, ...areasOf(held, size)]];
    },
  };
}

const textOf = (packageName: string, text: string | null): Parameters<typeof isHidden>[0] => ({
  packageName,
  text,
  description: null,
  className: null,
  viewId: null,
});
