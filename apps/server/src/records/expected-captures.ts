import { captureKinds, type CaptureKind } from '@phalanx/protocol';

import type { StoredScreen } from './stored-record.ts';

/** A capture that its host has announced and not yet sent, in the words of the wire. */
export interface ExpectedCapture {
  screen_id: string;
  kind: CaptureKind;
}

export const expectedCaptures = (screens: readonly StoredScreen[]): ExpectedCapture[] =>
  screens.flatMap((screen) =>
    captureKinds
      .filter((kind) => screen[kind] === 'expected')
      .map((kind) => ({ screen_id: screen.screen_id, kind })),
  );
