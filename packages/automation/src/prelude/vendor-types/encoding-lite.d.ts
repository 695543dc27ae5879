/** Part of @exodus/bytes that the prelude uses; its own types would import all of Node's globals. */
export const TextEncoder: typeof globalThis.TextEncoder;
export const TextDecoder: typeof globalThis.TextDecoder;
