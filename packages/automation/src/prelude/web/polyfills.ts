/** Imported for their effect: core-js puts what is missing on the global object. */
import 'core-js/actual/atob.js';
import 'core-js/actual/btoa.js';
import 'core-js/actual/dom-exception/index.js';
import 'core-js/actual/structured-clone.js';
import 'core-js/actual/url/index.js';
import 'core-js/actual/url-search-params/index.js';

/** core-js keeps its state on the global object too; by now its modules hold what they need of it. */
export function hidePolyfillState(): void {
  Reflect.deleteProperty(globalThis, '__core-js_shared__');
}
