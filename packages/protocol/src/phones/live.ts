import { Type, type Static } from 'typebox';

import { EpochMs } from '../ids.ts';

const pixels = Type.Integer({ minimum: 1, maximum: 100_000 });

/** A picture of a live view, in the host's words. */
export const LiveFrame = Type.Object({
  captured_at: EpochMs,
  /** Of the screen as it is rotated now; the picture is smaller. */
  width: pixels,
  height: pixels,
  /** Another one for another picture. */
  hash: Type.String({ minLength: 1, maxLength: 64 }),
});
export type LiveFrame = Static<typeof LiveFrame>;

/** A larger picture is none of a live view. */
export const maxLivePictureBytes = 2 * 1024 * 1024;

/** What a viewer says. Nothing comes unasked: who is slow, or looks elsewhere, asks later. */
export const LiveRequest = Type.Object({ type: Type.Literal('next') });

/** Each `next` is answered with one of these. */
export const LiveMessage = Type.Union([
  /** The next message is the picture: binary, a JPEG. */
  Type.Object({ type: Type.Literal('frame'), captured_at: EpochMs, width: pixels, height: pixels }),
  /** The screen still showed the last picture then. */
  Type.Object({ type: Type.Literal('still'), captured_at: EpochMs }),
  /** There is no picture now; asking goes on making sense. */
  Type.Object({ type: Type.Literal('nothing'), reason: Type.String() }),
]);
export type LiveMessage = Static<typeof LiveMessage>;
