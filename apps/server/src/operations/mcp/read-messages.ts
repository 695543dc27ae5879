import { wrapper } from './arguments/read-arguments.ts';
import { isFields, type Fields } from './arguments/variants.ts';

/**
 * Normalizes messages for the MCP library. Clients send `null` for omitted parameters, and arguments as `null` or text:
 * arguments that are no object are wrapped in one, which the tool unwraps.
 */
export const readMessages = (body: unknown): unknown =>
  Array.isArray(body) ? body.map(readMessage) : readMessage(body);

function readMessage(message: unknown): unknown {
  if (!isFields(message) || !('params' in message)) return message;
  const { params, ...others } = message;
  if (params === null) return others;
  return { ...others, params: isFields(params) ? readParams(params) : params };
}

function readParams(params: Fields): Fields {
  const given = Object.entries(params).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === wrapper && !isFields(value) ? { [wrapper]: value } : value]),
  );
}
