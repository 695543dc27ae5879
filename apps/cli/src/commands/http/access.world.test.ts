import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

// Each test starts several processes, which takes its time on a busy machine.
let service: TestService;

beforeAll(async () => {
  service = await TestService.start(0);
});
afterAll(() => service.stop());

test('without phones devices says the next step', async () => {
  const { code, stdout } = await service.run(['devices']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^No devices yet\. Connect a phone/);
});

test('a user is created, gets a token by name, and the token works until it is revoked', async () => {
  const created = await service.run(['user', 'create', 'Ada 王', '--json']);
  const { user } = JSON.parse(created.stdout);
  expect(user).toMatchObject({ name: 'Ada 王', role: 'user' });
  expect((await service.run(['user', 'list'])).stdout).toMatch(new RegExp(`^${user.id} +Ada 王 +user `, 'm'));

  const made = await service.run([
    'token',
    'create',
    'laptop',
    '--user',
    'Ada 王',
    '--scopes',
    'read,admin',
    '--expires',
    '2d',
  ]);
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^phx_\S+\n$/) });
  expect(made.stderr).toMatch(
    /^Token "laptop" \(read, admin; expires .+; ID .+\)\. Its secret, shown this once:\n$/,
  );

  const env = { PHALANX_TOKEN: made.stdout.trim() };
  const listed = await service.run(['token', 'list'], { env });
  expect(listed.stdout).toMatch(
    /^ID +NAME +SCOPES +PROJECTS +PHONES +APPS +TODAY +EXPIRES +LAST USED\n\S+ +laptop +read,admin +all +all +all +in (1 d|47 h) +/,
  );
  const refused = await service.run(['user', 'list'], { env });
  expect(refused).toEqual({
    code: 3,
    stdout: '',
    stderr: 'Only administrators may use this endpoint, and only with a token that is not limited.\n',
  });

  const id = listed.stdout.split('\n')[1]?.split(' ')[0] ?? '';
  expect(await service.run(['token', 'revoke', id])).toMatchObject({
    code: 0,
    stdout: 'Token "laptop" was revoked.\n',
  });
  expect(await service.run(['devices'], { env })).toMatchObject({ code: 2 });
  expect(await service.run(['token', 'revoke', '..'])).toMatchObject({ code: 3 });
});

test('a user is renamed, disabled, enabled and deleted', async () => {
  await service.run(['user', 'create', 'Bob']);
  const made = await service.run(['token', 'create', 'x', '--user', 'Bob']);
  const env = { PHALANX_TOKEN: made.stdout.trim() };
  expect(await service.run(['user', 'rename', 'Bob', 'Bea'])).toMatchObject({
    code: 0,
    stdout: 'User "Bea" is enabled.\n',
  });
  expect(await service.run(['user', 'disable', 'Bea'])).toMatchObject({
    stdout: 'User "Bea" is disabled.\n',
  });
  expect((await service.run(['user', 'list'])).stdout).toMatch(/ Bea +user \(disabled\) /);
  expect(await service.run(['devices'], { env })).toMatchObject({ code: 2 });
  await service.run(['user', 'enable', 'Bea']);
  expect(await service.run(['devices'], { env })).toMatchObject({ code: 0 });
  expect(await service.run(['user', 'delete', 'Bea'])).toMatchObject({
    code: 2,
    stderr: 'Nothing was deleted: confirm with "y", or pass --yes.\n',
  });
  expect(await service.run(['user', 'delete', 'Bea', '--yes', '--projects'])).toMatchObject({ code: 0 });
  expect((await service.run(['user', 'list'])).stdout).not.toContain('Bea');
});

test('a user that is not there is named', async () => {
  const { code, stderr } = await service.run(['token', 'create', 'x', '--user', 'nobody']);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: 'Unknown user "nobody": "phalanx user list" lists the users.\n',
  });
});

test('audit tells who did what, as a table, as JSON and as lines of JSON', async () => {
  await service.run(['user', 'create', 'Eve']);
  const made = await service.run(['token', 'create', 'CI', '--user', 'Eve']);
  const env = { PHALANX_TOKEN: made.stdout.trim() };
  const table = await service.run(['audit', '--since', '1h', '--limit', '2']);
  expect(table.stdout).toMatch(/^TIME +USER +TOKEN +FROM +ACTION +ON +DETAILS\n/);
  expect(table.stdout).toMatch(/ administrator +\S.* 127\.0\.0\.1 +create_token +token CI +user_id=/);
  expect(table.stdout).toMatch(/ create_user +user Eve\n/);
  await service.run(['user', 'list'], { env });
  const refused = await service.run(['audit', '--refused', '--user', 'Eve', '--json']);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    entries: [{ user: { name: 'Eve' }, action: 'read', outcome: 'refused', code: 'forbidden' }],
  });
  const lines = await service.run(['audit', '--action', 'create_user', '--jsonl']);
  const actions = lines.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).action);
  expect(new Set(actions)).toEqual(new Set(['create_user']));
  const wrong = await service.run(['audit', '--since', 'yesterday']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('such as 30min, 12h or 7d') });
});

test('usage shows what one has and of what limit; administrators see everyone', async () => {
  await service.run(['user', 'create', 'usage-user']);
  const made = await service.run(['token', 'create', 'theirs', '--user', 'usage-user']);
  const env = { PHALANX_TOKEN: made.stdout.trim() };
  const own = await service.run(['usage'], { env });
  expect(own.code).toBe(0);
  expect(own.stdout).toMatch(
    /^LIMIT +USED +OF +PER +REFUSED +SETTING\nprojects +0 +1,000 +user +0 +PHALANX_MAX_PROJECTS\n/,
  );
  expect(own.stdout).toMatch(/^tokens +1 +1,000 /m);
  expect((await service.run(['usage', '--all'], { env })).code).toBe(3);
  expect((await service.run(['usage', '--all'])).stdout).toMatch(/^usage-user +tokens +1 +1,000 /m);
  expect((await service.run(['usage', '--user', 'usage-user', '--json'])).stdout).toContain('"usage-user"');
});

test('a token is limited to phones, which it tells, and does nothing else', async () => {
  const limits = [
    '--labels',
    'team=shop',
    '--max-phones',
    '2',
    '--app',
    'com.example.*',
    '--app',
    'b.c',
    '--runs-per-day',
    '9',
  ];
  const made = await service.run(['token', 'create', 'night', ...limits]);
  expect(made.code).toBe(0);
  expect((await service.run(['token', 'list'])).stdout).toMatch(
    /^\S+ +night +\S+ +all +team=shop +b\.c,com\.example\.\* +0 of 9 runs +in/m,
  );
  const env = { PHALANX_TOKEN: made.stdout.trim() };
  expect(await service.run(['devices'], { env })).toMatchObject({ code: 0 });
  expect(await service.run(['jobs'], { env })).toMatchObject({ code: 0 });
  expect(await service.run(['webhooks'], { env })).toMatchObject({
    code: 3,
    stderr: 'A token that is limited to phones or apps may not use this endpoint.\n',
  });
  const wrong = await service.run(['token', 'create', 'wrong', '--labels', 'nonsense']);
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('nonsense') });
});
