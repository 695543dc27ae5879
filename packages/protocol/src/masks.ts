import { Type, type Static } from 'typebox';

const text = Type.Optional(Type.String({ minLength: 1, maxLength: 500 }));
const share = Type.Number({ minimum: 0, maximum: 1 });

/**
 * Masks all nodes of the screen that meet all conditions, with their descendants. Texts are compared as displayed,
 * ignoring case.
 */
const NodeMask = Type.Object(
  {
    /** Full resource ID, or only its name. */
    viewId: text,
    packageName: text,
    /** Class with or without its package. */
    className: text,
    text,
    textContains: text,
    description: text,
    descriptionContains: text,
  },
  { additionalProperties: false, minProperties: 1 },
);
export type NodeMask = Static<typeof NodeMask>;

/** Masks an area of the screen in its current rotation: shares of width and height, from the top left corner. */
const AreaMask = Type.Object(
  {
    area: Type.Object(
      { left: share, top: share, right: share, bottom: share },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type AreaMask = Static<typeof AreaMask>;

/** Part of a screen that must not leave the host. */
export const ScreenMask = Type.Union([NodeMask, AreaMask]);
export type ScreenMask = Static<typeof ScreenMask>;
export const ScreenMasks = Type.Array(ScreenMask, { maxItems: 100 });
