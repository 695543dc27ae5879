type Test = (screen: AndroidNode) => boolean;

/** Returns the test of a sign. Throws a TypeError for an invalid sign. */
export function testOf(sign: ScreenSign): Test {
  if (typeof sign === 'function') return (screen) => Boolean(sign(screen));
  if (typeof sign === 'string' || sign instanceof RegExp)
    return (screen) => screen.findTextOne(sign) !== null;
  const tests = testsOf(sign);
  if (tests.length > 0) return (screen) => tests.every((test) => test(screen));
  throw new TypeError('A screen sign needs an id, a text or a packageName.');
}

function testsOf({ id, text, packageName }: Exclude<ScreenSign, string | RegExp | StageAction>): Test[] {
  return [
    ...(id === undefined ? [] : [(screen: AndroidNode) => screen.findById(id) !== null]),
    ...(text === undefined ? [] : [(screen: AndroidNode) => screen.findTextOne(text) !== null]),
    ...(packageName === undefined ? [] : [(screen: AndroidNode) => screen.packageName === packageName]),
  ];
}
