import { Type, type Static } from 'typebox';

import { EpochMs, Id } from '../ids.ts';

const pixels = Type.Integer({ minimum: 1, maximum: 100_000 });

/** A picture of a live view, in the host's words. */
export const LiveFrame = Type.Object({
  captured_at: EpochMs,
  /** Width and height of the screen as it is rotated now, in pixels; the picture is smaller. */
  width: pixels,
  height: pixels,
  /** Another one for another picture. */
  hash: Type.String({ minLength: 1, maxLength: 64 }),
});
export type LiveFrame = Static<typeof LiveFrame>;

/** A larger picture is none of a live view. */
export const maxLivePictureBytes = 2 * 1024 * 1024;

const videoParts = {
  captured_at: EpochMs,
  /** Width and height of the screen as it is rotated now, in pixels; the video is smaller. */
  width: pixels,
  height: pixels,
  /** Codec string of WebCodecs, such as `avc1.42C032`. */
  codec: Type.String({ maxLength: 64 }),
  /** Their bytes follow one another. */
  packets: Type.Array(
    Type.Object({
      /** A decoder may begin here: the sequence and picture parameters come before it. */
      is_key: Type.Boolean(),
      size_bytes: Type.Integer({ minimum: 0 }),
    }),
    { maxItems: 1000 },
  ),
};

/**
 * Position of a reader in a phone's video: a stream begins anew with each start of the encoder, and its packets
 * are numbered.
 */
export const VideoPlace = Type.Object({
  stream: Type.String({ maxLength: 64 }),
  number: Type.Integer({ minimum: 0 }),
});
export type VideoPlace = Static<typeof VideoPlace>;

/** Packets of H.264 in the host's words, or why there are none. */
export const HostVideo = Type.Union([
  Type.Object({ ...videoParts, first: VideoPlace }),
  Type.Object({ reason: Type.String({ maxLength: 1000 }) }),
]);
export type HostVideo = Static<typeof HostVideo>;

/** A larger packet is none of a live view. */
export const maxVideoBytes = 4 * 1024 * 1024;

/** How often a viewer of video may say `next` ahead. */
export const maxRequestsAhead = 30;

/** Request of a viewer for the next picture. Nothing is sent unasked, so a viewer that is slow or hidden gets fewer. */
export const LiveRequest = Type.Object({ type: Type.Literal('next') });

/** For a viewer that takes video: why it has pictures instead. */
const noVideo = Type.Optional(Type.String());

/** Each `next` is answered with one of these. */
export const LiveMessage = Type.Union([
  /** The next message is the picture: binary, a JPEG. */
  Type.Object({
    type: Type.Literal('frame'),
    captured_at: EpochMs,
    width: pixels,
    height: pixels,
    no_video: noVideo,
  }),
  /** The next message is binary: the packets, in Annex B form. Only for a viewer that takes video. */
  Type.Object({ type: Type.Literal('video'), ...videoParts }),
  /** The screen still showed the last picture then. */
  Type.Object({ type: Type.Literal('still'), captured_at: EpochMs, no_video: noVideo }),
  /** There is no picture now; asking goes on making sense. */
  Type.Object({ type: Type.Literal('nothing'), reason: Type.String() }),
]);
export type LiveMessage = Static<typeof LiveMessage>;

/** Phones that one connection watches at once. */
export const maxWallPhones = 200;
/** Phones of one message. */
export const maxWallPhonesOfMessage = 20;
/** Pictures that are sent before the viewer has answered the first of them. */
export const maxWallPicturesAhead = 16;

const wallPhones = Type.Array(Id, { minItems: 1, maxItems: maxWallPhonesOfMessage });

/** Messages of a viewer of a wall. */
export const WallRequest = Type.Union([
  Type.Object({ type: Type.Literal('watch'), device_ids: wallPhones }),
  Type.Object({ type: Type.Literal('leave'), device_ids: wallPhones }),
  /** Credit for this many more pictures: the viewer has shown as many. */
  Type.Object({ type: Type.Literal('shown'), pictures: Type.Integer({ minimum: 1, maximum: 1000 }) }),
]);
export type WallRequest = Static<typeof WallRequest>;

/** Messages to a viewer of a wall, each about one phone. */
export const WallMessage = Type.Union([
  /** The next message is the picture: binary, a JPEG. `width` and `height` are the screen's. */
  Type.Object({
    type: Type.Literal('frame'),
    device_id: Id,
    captured_at: EpochMs,
    width: pixels,
    height: pixels,
  }),
  /** There is no picture now; when there is one, it comes. */
  Type.Object({ type: Type.Literal('nothing'), device_id: Id, reason: Type.String() }),
  /** The viewer may not see the phone, or no longer: no more messages about it follow. */
  Type.Object({ type: Type.Literal('gone'), device_id: Id }),
]);
export type WallMessage = Static<typeof WallMessage>;
