import { type App, defineApp, type View } from '@phalanx/simulated-phone';

/** An app whose screen is a web page. */
export const browser: App = defineApp({
  packageName: 'com.example.browser',
  label: 'Browser',
  icon: '',
  color: '#000000',
  state: () => ({}),
  activities: {
    '.Main': () => (ui, area) => {
      const viewOf = (className: string, children: View[], text?: string): View => ({
        className,
        packageName: ui.packageName,
        frame: area,
        text,
        children,
      });
      return viewOf('android.webkit.WebView', [viewOf('android.view.View', [], 'A headline')]);
    },
  },
});
