import { Type, type Static } from 'typebox';

import type { Bounds } from './phone-answers.ts';

/** Maximum length of compared texts in characters; longer ones are truncated. */
export const maxTouchedTextLength = 200;

const side = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const text = Type.Union([Type.String({ maxLength: maxTouchedTextLength }), Type.Null()]);

/** Node as read by the caller. The host finds it on the current screen, and touches only this node. */
export const TouchedNode = Type.Object({
  bounds: Type.Object({ left: side, top: side, right: side, bottom: side }),
  packageName: Type.String({ maxLength: maxTouchedTextLength }),
  className: text,
  viewId: text,
  text,
  description: text,
});
export type TouchedNode = Static<typeof TouchedNode>;

/** Window that received a touch. */
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

/** Reason why a touch does not reach a node. */
export type TouchObstacle = 'covered' | 'not_in_view' | 'gone';

/** Point at which a touch reaches a node, or a sentence that explains why none does. */
export type TouchReach =
  | {
      readonly state: 'free';
      readonly point: { readonly x: number; readonly y: number };
      /** Largest part of the node that no other window covers. */
      readonly area: Bounds;
    }
  | { readonly state: TouchObstacle; readonly reason: string };
