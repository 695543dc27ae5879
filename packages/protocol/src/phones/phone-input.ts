import { Type, type Static } from 'typebox';

import { agentCalls } from '../agent-calls.ts';

const point = agentCalls['input.tap'].params.properties;
const swipe = agentCalls['input.swipe'].params.properties;
const way = { from_x: swipe.fromX, from_y: swipe.fromY, to_x: swipe.toX, to_y: swipe.toY };

/** What a person, or a tool, does to a phone by hand. Coordinates are pixels of the screen as it is rotated now. */
export const PhoneInput = Type.Union(
  [
    Type.Object({ type: Type.Literal('tap'), x: point.x, y: point.y }),
    Type.Object({
      type: Type.Literal('swipe'),
      ...way,
      duration_ms: Type.Optional(swipe.durationMs),
    }),
    Type.Object({
      type: Type.Literal('fingers'),
      ways: Type.Array(Type.Object(way), {
        minItems: 1,
        maxItems: 10,
        description: 'Several fingers at once, each along its own way: two that part zoom in',
      }),
      duration_ms: Type.Optional(swipe.durationMs),
    }),
    Type.Object({ type: Type.Literal('text'), text: agentCalls['input.text'].params.properties.text }),
    Type.Object({
      type: Type.Literal('clipboard'),
      text: Type.String({
        ...agentCalls['clipboard.write'].params.properties.text,
        description: 'Put on the clipboard',
      }),
    }),
    Type.Object({ type: Type.Literal('key'), key_code: agentCalls['input.key'].params.properties.keyCode }),
    Type.Object({
      type: Type.Literal('launch_app'),
      package_name: agentCalls['app.launch'].params.properties.packageName,
    }),
  ],
  { title: 'PhoneInput' },
);
export type PhoneInput = Static<typeof PhoneInput>;
