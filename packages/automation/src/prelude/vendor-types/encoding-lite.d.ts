/** The part of @exodus/bytes that the prelude uses; its own types would bring all of Node's globals in. */
export const TextEncoder: typeof globalThis.TextEncoder;
export const TextDecoder: typeof globalThis.TextDecoder;
