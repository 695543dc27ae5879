import { Type, type Static } from 'typebox';

import { EpochMs, Id } from '../ids.ts';

const pixels = Type.Integer({ minimum: 1, maximum: 100_000 });

/** Phones that one connection watches at once. */
export const maxWallPhones = 200;
/** Phones of one message. */
export const maxWallPhonesOfMessage = 20;
/** Pictures that are sent before the viewer has answered the first of them. */
export const maxWallPicturesAhead = 16;

const phones = Type.Array(Id, { minItems: 1, maxItems: maxWallPhonesOfMessage });

/** What a viewer of a wall says. */
export const WallRequest = Type.Union([
  Type.Object({ type: Type.Literal('watch'), device_ids: phones }),
  Type.Object({ type: Type.Literal('leave'), device_ids: phones }),
  /** So many pictures more can come: the viewer has shown as many. */
  Type.Object({ type: Type.Literal('shown'), pictures: Type.Integer({ minimum: 1, maximum: 1000 }) }),
]);
export type WallRequest = Static<typeof WallRequest>;

/** What a viewer of a wall is told, of one phone. */
export const WallMessage = Type.Union([
  /** The next message is the picture: binary, a JPEG. `width` and `height` are the screen's. */
  Type.Object({
    type: Type.Literal('frame'),
    device_id: Id,
    ...{ captured_at: EpochMs, width: pixels, height: pixels },
  }),
  /** There is no picture now; when there is one, it comes. */
  Type.Object({ type: Type.Literal('nothing'), device_id: Id, reason: Type.String() }),
  /** It is not the viewer's to see, or no longer: nothing more comes of it. */
  Type.Object({ type: Type.Literal('gone'), device_id: Id }),
]);
export type WallMessage = Static<typeof WallMessage>;
