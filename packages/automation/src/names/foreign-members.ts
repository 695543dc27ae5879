const tap = 'agent.actions.tap(x, y), or tap() of a node';
const find = 'findTextOne, findById or filterOne of await agent.actions.screenContent()';
const findAll = 'findText, findAllById or filterAdvanced of await agent.actions.screenContent()';
const write = 'agent.actions.writeText(text), or writeText(text) of a node';
const swipe =
  'agent.actions.swipe(fromX, fromY, toX, toY), or agent.actions.scrollTo(target) to find something';
const wait =
  'agent.actions.waitForText(text), waitForId(viewId) or waitFor(condition), or agent.actions.sleep(durationMs)';
const key = 'agent.actions.inputKey(key), such as "ENTER"';
const launch = 'agent.actions.launchApp(packageName)';
const stop = 'agent.actions.stopApp(packageName)';
const screen = 'agent.actions.screenContent()';
const longPress = 'agent.actions.longPress(x, y), or longPress() of a node';
const device = 'agent.info.device()';
const args = 'agent.arguments.automationParameters, or agent.arguments.jobVariables in a job';
const secrets = 'agent.secrets.get(name), or agent.secrets.type(name)';
const record = 'agent.utils.debug(tag) to keep the screen for later';
const gone = 'agent.actions.waitForTextGone(text)';
const notifications = 'agent.actions.notifications() to open them, or agent.actions.readNotifications()';

/** Names of other tools with our equivalents, in lower case without separators. */
export const foreignMembers: readonly [ours: string, names: string][] = [
  [
    tap,
    'click clickOn clickAt tapOn tapAt tapXY press touch touchDown singleTap clickElement tapElement pressElement tapText clickText clickById tapById tapCoordinates',
  ],
  ['agent.actions.doubleTap(x, y), or doubleTap() of a node', 'doubleClick dblclick doubleTapOn'],
  [longPress, 'longClick longTap tapAndHold pressAndHold longPressOn'],
  [
    find,
    'findElement find query querySelector getElement getElementById getByText getByRole getByTestId getByLabel locator elementById elementByText findOne findNode findByText byText selector exists isVisible isDisplayed $ element findByXPath xpath findElementById findElementByText findElementByXPath findElementByAccessibilityId findByAccessibilityId getNode findNodeByText',
  ],
  [
    findAll,
    'findElements findAll queryAll querySelectorAll getAllByText findNodes findElementsById findElementsByText $$ elements',
  ],
  [
    write,
    'type typeText inputText enterText input fill sendKeys setText setValue keyboardType typeIn sendText pressSequentially insertText addValue write replaceText setInput',
  ],
  [
    'agent.actions.clearText(), or writeText(text, { clear: true }) of a node',
    'clear clearField clearInput eraseText clearValue',
  ],
  [
    swipe,
    'swipeUp swipeDown swipeLeft swipeRight scroll scrollDown scrollUp scrollBy fling flick swipeTo scrollForward scrollBackward scrollToEnd scrollLeft scrollRight',
  ],
  [
    'agent.actions.scrollTo(target)',
    'scrollIntoView scrollToElement scrollUntilVisible scrollIntoViewIfNeeded scrollToText scrollToNode',
  ],
  ['agent.actions.drag(fromX, fromY, toX, toY)', 'dragTo dragAndDrop dragDrop'],
  [
    'agent.actions.pinch(x, y, fromDistance, toDistance)',
    'zoom zoomIn zoomOut pinchOpen pinchClose pinchIn pinchOut',
  ],
  [
    wait,
    'wait waitForElement waitForSelector waitUntil waitForVisible waitForDisplayed waitForExist waitForElementVisible assertVisible waitForScreen',
  ],
  ['agent.actions.sleep(durationMs)', 'delay pause waitForTimeout waitMs idle sleepMs setTimeout'],
  [
    gone,
    'waitForElementToDisappear waitForNotVisible waitForGone waitUntilGone assertNotVisible waitForHidden',
  ],
  [
    key,
    'pressKey keyEvent keyevent pressKeyCode sendKey sendKeyEvent key inputKeyEvent pressEnter enter keyPress pressButton',
  ],
  ['agent.actions.back()', 'pressBack goBack navigateBack backButton'],
  ['agent.actions.home()', 'pressHome goHome homeButton goToHome'],
  ['agent.actions.recents()', 'recentApps openRecents pressRecents appSwitch'],
  [launch, 'openApp startApp activateApp launch startActivity runApp open launchActivity start'],
  [stop, 'closeApp killApp terminateApp forceStop close terminate quit kill'],
  ['agent.actions.openLink(url)', 'goto openUrl openURL navigate visit deepLink url openDeepLink'],
  [
    'agent.actions.currentApp()',
    'getCurrentPackage currentPackage getCurrentActivity currentActivity activity getForegroundApp',
  ],
  ['agent.apps.list()', 'installedApps listApps getInstalledApps listPackages packages'],
  ['agent.apps.install(apk)', 'installApp installApk'],
  ['agent.apps.uninstall(packageName)', 'uninstallApp removeApp'],
  ['agent.apps.clearData(packageName)', 'clearApp clearAppData resetApp clearState'],
  ['agent.apps.grantPermission(packageName, permission)', 'grantPermissions setPermissions grant'],
  [
    screen,
    'getScreen screen getPageSource pageSource dump dumpHierarchy getHierarchy hierarchy getTree tree getUI uiTree source viewHierarchy snapshot readScreen getScreenContent getContent',
  ],
  [
    'agent.actions.screenshot()',
    'takeScreenshot screenCapture captureScreen getScreenshot captureScreenshot screencap saveScreenshot',
  ],
  [
    device,
    'device getDevice deviceInfo getDeviceInfo getDisplaySize windowSize getWindowSize screenSize getScreenSize width height displayWidth displayHeight getSize',
  ],
  [args, 'args params parameters inputs variables vars getParameter getArgument env config options'],
  [secrets, 'secret password getSecret credentials'],
  ['console.log(…)', 'log print logger debugLog warn error'],
  [record, 'saveScreen recordScreen'],
  ['agent.control.setResult(value)', 'result return output complete setOutput report'],
  [
    'agent.control.stopCurrentAutomation(), or throw new Error(…) to fail',
    'exit end finish fail abort stopAutomation done',
  ],
  [
    'agent.shell(command)',
    'adb exec execute executeScript runCommand runShell adbShell command executeShell cmd',
  ],
  ['agent.files.write(path, content)', 'pushFile writeFile push saveFile upload'],
  ['agent.files.read(path)', 'pullFile readFile pull download'],
  ['agent.run.attach(name, data)', 'attachFile saveArtifact artifact'],
  ['agent.actions.setClipboard(text)', 'copy setClipboardText copyText'],
  ['agent.actions.getClipboard()', 'paste getClipboardText clipboard pasteText'],
  [notifications, 'openNotifications openNotification getNotifications notification'],
  ['agent.actions.hideKeyboard()', 'dismissKeyboard closeKeyboard'],
  ['agent.actions.acceptAlert()', 'alertAccept acceptDialog allowPermission'],
  ['agent.actions.dismissAlert()', 'alertDismiss dismissDialog'],
  ['agent.actions.rotate(to)', 'setOrientation rotateScreen orientation landscape portrait'],
  ['fetch(url)', 'http request post httpGet httpPost axios'],
  ['text or description of a node', 'getText innerText textContent getTextContent'],
  [
    'boundsInScreen of a node',
    'bounds getBounds getBoundingBox boundingBox rect getRect getLocation location',
  ],
  ['agent.messages.waitForCode()', 'getOtp otp waitForSms readSms getSms sms'],
];

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d$]/g, '');

const oursByName: ReadonlyMap<string, string> = new Map(
  foreignMembers.flatMap(([ours, names]) => names.split(' ').map((name) => [plain(name), ours] as const)),
);

/** Returns our equivalent of another tool's name; undefined if there is none. */
export const findOurs = (name: string): string | undefined => oursByName.get(plain(name));

/**
 * Advice for members of browsers or Node that are missing here, by type and name. Each text follows "does not exist
 * …: ".
 */
export const foreignWebMembers: Readonly<Record<string, string>> = {
  unref: 'a timer is a number here: clearTimeout(timer) ends one before the end of the run',
  ref: 'a timer is a number here: clearTimeout(timer) ends one before the end of the run',
  hasRef: 'a timer is a number here: clearTimeout(timer) ends one before the end of the run',
  refresh: 'a timer is a number here: use clearTimeout(timer) and a new setTimeout',
  pipeThrough: 'use text(), bytes(), getReader() or "for await" for the body of a response',
  pipeTo: 'use text(), bytes(), getReader() or "for await" for the body of a response',
  tee: 'use clone() of the response before its body is read',
  encrypt: 'crypto.subtle has digests and HMAC alone',
  decrypt: 'crypto.subtle has digests and HMAC alone',
  generateKey: 'use importKey with bytes of crypto.getRandomValues()',
  deriveBits: 'crypto.subtle has digests and HMAC alone',
  deriveKey: 'crypto.subtle has digests and HMAC alone',
  mark: 'use performance.now() at both ends',
  measure: 'use performance.now() at both ends',
  getEntriesByName: 'use performance.now() at both ends',
  url: 'a run has no files of its own: use import for code and JSON of the project',
  dirname: 'a run has no files of its own: use import for code and JSON of the project',
  filename: 'a run has no files of its own: use import for code and JSON of the project',
  env: 'use agent.arguments or agent.secrets',
  createObjectURL: 'use text(), arrayBuffer() or bytes() of the Blob',
};
