/** Imports for their side effect: core-js adds missing features to the global object. */
import 'core-js/actual/atob.js';
import 'core-js/actual/btoa.js';
import 'core-js/actual/dom-exception/index.js';
import 'core-js/actual/structured-clone.js';
import 'core-js/actual/url/index.js';
import 'core-js/actual/url-search-params/index.js';

/** Removes the state of core-js from the global object; its modules already hold what they need. */
export function hidePolyfillState(): void {
  Reflect.deleteProperty(globalThis, '__core-js_shared__');
}
