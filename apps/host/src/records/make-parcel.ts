import { defaultTag, maxCaptureBytes, type RecordReport, type ScreenReport } from '@phalanx/protocol';

import type { EncodedPicture } from '../driver/encode-picture.ts';
import type { KeptScreen } from './kept-screen.ts';
import type { Capture, RecordParcel } from './record-parcel.ts';

/** A screen whose picture is what is sent. */
export type FinishedScreen = Omit<KeptScreen, 'picture'> & { readonly picture: EncodedPicture | undefined };

/** A black picture, one that can't be read and one that is too large are none. */
export async function finishScreen(screen: KeptScreen): Promise<FinishedScreen> {
  const picture = await screen.picture?.finish().catch(() => undefined);
  const fits = picture !== undefined && picture.data.byteLength <= maxCaptureBytes;
  return { ...screen, picture: fits ? picture : undefined };
}

type About = Pick<RecordReport, 'record_id' | 'run_id' | 'type' | 'tag' | 'error'>;

/** A record of the screens as they are now. */
export function makeParcel(about: About, screens: readonly FinishedScreen[]): RecordParcel {
  const { tag } = about;
  return {
    report: {
      ...about,
      tag: tag === defaultTag ? null : tag,
      screens: screens.map(reportOf),
      is_cut_short: false,
    },
    captures: screens.flatMap(capturesOf),
  };
}

function reportOf({ tree, picture, ...screen }: FinishedScreen): ScreenReport {
  return {
    screen_id: screen.screenId,
    next_stage: screen.nextStage,
    screen_state: screen.screenState,
    max_steps: screen.maxSteps,
    timestamp: screen.timestamp,
    has_tree: tree !== undefined,
    screenshot:
      picture === undefined
        ? null
        : {
            width: picture.width,
            height: picture.height,
            original_width: picture.originalWidth,
            original_height: picture.originalHeight,
          },
    screenshot_failed: screen.wantsPicture && picture === undefined,
  };
}

function capturesOf({ screenId, tree, picture }: FinishedScreen): Capture[] {
  return [
    ...(tree === undefined ? [] : [{ screenId, kind: 'tree' as const, bytes: tree }]),
    ...(picture === undefined ? [] : [{ screenId, kind: 'screenshot' as const, bytes: picture.data }]),
  ];
}
