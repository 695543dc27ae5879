import type { VisibleView } from '../view/find-view.ts';
import { walk } from '../view/find-view.ts';
import { findByXPath } from './xpath.ts';
import { parseUiSelector } from './ui-selector.ts';
import { WebDriverError } from './web-driver-error.ts';

/** All matches in document order. Throws "invalid selector". */
export function locateAll(root: VisibleView, strategy: string, selector: string): VisibleView[] {
  const all = () => walk(root).toArray();
  const packageName = root.view.packageName;
  switch (strategy) {
    case 'id': {
      // A short id is of the app in front.
      const id = selector.includes(':id/') ? selector : `${packageName}:id/${selector}`;
      return all().filter(({ view }) => view.resourceId === id);
    }
    case 'accessibility id':
      return all().filter(({ view }) => view.description === selector);
    case 'class name':
      return all().filter(({ view }) => view.className === selector);
    case 'text':
      return all().filter(({ view }) => view.text === selector);
    case 'xpath':
      return findByXPath(root, selector);
    case '-android uiautomator':
      return parseUiSelector(selector)(all());
    default:
      throw new WebDriverError('invalid selector', `Locator strategy '${strategy}' is not supported`);
  }
}
