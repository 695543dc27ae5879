import { Type, type Static } from 'typebox';

import { EpochMs, Id } from '../ids.ts';

const pixels = Type.Integer({ minimum: 1, maximum: 100_000 });

/** Picture of a live view, as reported by the host. */
export const LiveFrame = Type.Object({
  captured_at: EpochMs,
  /** Width and height of the screen in its current rotation, in pixels; the picture is smaller. */
  width: pixels,
  height: pixels,
  /** Hash that changes with the picture. */
  hash: Type.String({ minLength: 1, maxLength: 64 }),
});
export type LiveFrame = Static<typeof LiveFrame>;

/** Maximum size of a live view's picture, in bytes. */
export const maxLivePictureBytes = 2 * 1024 * 1024;

const videoParts = {
  captured_at: EpochMs,
  /** Width and height of the screen in its current rotation, in pixels; the video is smaller. */
  width: pixels,
  height: pixels,
  /** Codec string of WebCodecs, such as `avc1.42C032`. */
  codec: Type.String({ maxLength: 64 }),
  /** Packets of the video; their bytes are concatenated. */
  packets: Type.Array(
    Type.Object({
      /** Whether a decoder may start here: the sequence and picture parameters precede the packet. */
      is_key: Type.Boolean(),
      size_bytes: Type.Integer({ minimum: 0 }),
    }),
    { maxItems: 1000 },
  ),
};

/** Position of a reader in a phone's video. Each start of the encoder begins a new stream with numbered packets. */
export const VideoPlace = Type.Object({
  stream: Type.String({ maxLength: 64 }),
  number: Type.Integer({ minimum: 0 }),
});
export type VideoPlace = Static<typeof VideoPlace>;

/** H.264 packets as reported by the host, or the reason why there are none. */
export const HostVideo = Type.Union([
  Type.Object({ ...videoParts, first: VideoPlace }),
  Type.Object({ reason: Type.String({ maxLength: 1000 }) }),
]);
export type HostVideo = Static<typeof HostVideo>;

/** Maximum size of a live view's packets, in bytes. */
export const maxVideoBytes = 4 * 1024 * 1024;

/** Maximum number of `next` requests that a viewer of video may send ahead. */
export const maxRequestsAhead = 30;

/**
 * Request of a viewer for the next picture. Nothing is sent without a request, so a slow or hidden viewer gets fewer
 * pictures.
 */
export const LiveRequest = Type.Object({ type: Type.Literal('next') });

/** Reason why a viewer that supports video gets pictures instead. */
const noVideo = Type.Optional(Type.String());

/** Answers to `next`; each request gets one of them. */
export const LiveMessage = Type.Union([
  /** Announces a picture: the next message is binary, a JPEG. */
  Type.Object({
    type: Type.Literal('frame'),
    captured_at: EpochMs,
    width: pixels,
    height: pixels,
    no_video: noVideo,
  }),
  /**
   * Announces video: the next message is binary, the packets in Annex B format. Only for a viewer that supports video.
   */
  Type.Object({ type: Type.Literal('video'), ...videoParts }),
  /** Reports that the screen still showed the last picture at that time. */
  Type.Object({ type: Type.Literal('still'), captured_at: EpochMs, no_video: noVideo }),
  /** Reports that there is no picture at the moment; the viewer may continue to ask. */
  Type.Object({ type: Type.Literal('nothing'), reason: Type.String() }),
]);
export type LiveMessage = Static<typeof LiveMessage>;

/** Maximum number of phones that one connection watches at the same time. */
export const maxWallPhones = 200;
/** Maximum number of phones per message. */
export const maxWallPhonesOfMessage = 20;
/** Maximum number of pictures that are sent before the viewer has acknowledged the first of them. */
export const maxWallPicturesAhead = 16;

const wallPhones = Type.Array(Id, { minItems: 1, maxItems: maxWallPhonesOfMessage });

/** Messages from a viewer of a wall. */
export const WallRequest = Type.Union([
  Type.Object({ type: Type.Literal('watch'), device_ids: wallPhones }),
  Type.Object({ type: Type.Literal('leave'), device_ids: wallPhones }),
  /** Credit for this number of further pictures; the viewer has displayed as many. */
  Type.Object({ type: Type.Literal('shown'), pictures: Type.Integer({ minimum: 1, maximum: 1000 }) }),
]);
export type WallRequest = Static<typeof WallRequest>;

/** Messages to a viewer of a wall, each about one phone. */
export const WallMessage = Type.Union([
  /** Announces a picture: the next message is binary, a JPEG. `width` and `height` are those of the screen. */
  Type.Object({
    type: Type.Literal('frame'),
    device_id: Id,
    captured_at: EpochMs,
    width: pixels,
    height: pixels,
  }),
  /** Reports that there is no picture at the moment. The next one is sent when it is available. */
  Type.Object({ type: Type.Literal('nothing'), device_id: Id, reason: Type.String() }),
  /** Reports that the viewer may not see the phone, or no longer; no further messages about it follow. */
  Type.Object({ type: Type.Literal('gone'), device_id: Id }),
]);
export type WallMessage = Static<typeof WallMessage>;
