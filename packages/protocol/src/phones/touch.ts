import { Type, type Static } from 'typebox';

import type { Bounds } from './phone-answers.ts';

/** Longer texts are cut before they are compared. */
export const maxTouchedTextLength = 200;

const side = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const text = Type.Union([Type.String({ maxLength: maxTouchedTextLength }), Type.Null()]);

/** A node as its caller has read it. The host looks for it on the screen of now, and touches it alone. */
export const TouchedNode = Type.Object({
  bounds: Type.Object({ left: side, top: side, right: side, bottom: side }),
  packageName: Type.String({ maxLength: maxTouchedTextLength }),
  className: text,
  viewId: text,
  text,
  description: text,
});
export type TouchedNode = Static<typeof TouchedNode>;

/** The window that a touch got to. */
export const TouchedWindow = Type.Object(
  {
    package_name: Type.String({
      maxLength: 255,
      description: 'Package name of the app that owns the window; empty if unknown',
    }),
    is_keyboard: Type.Boolean({ description: 'Whether the window is the soft keyboard' }),
  },
  { title: 'TouchedWindow' },
);
export type TouchedWindow = Static<typeof TouchedWindow>;

/** Why a touch does not get to a node. */
export type TouchObstacle = 'covered' | 'not_in_view' | 'gone';

/** The point at which a touch reaches a node, or a sentence that says why none does. */
export type TouchReach =
  | {
      readonly state: 'free';
      readonly point: { readonly x: number; readonly y: number };
      /** The largest part of the node over which no other window lies. */
      readonly area: Bounds;
    }
  | { readonly state: TouchObstacle; readonly reason: string };
