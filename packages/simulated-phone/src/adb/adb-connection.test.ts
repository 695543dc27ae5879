import { constants, generateKeyPairSync, type KeyObject, privateEncrypt } from 'node:crypto';
import { expect, test } from 'vitest';
import { RawClient } from '../testing/raw-client.ts';
import { startPhone } from '../testing/phones.ts';
import { adbCommand, encodeHeader } from './adb-message.ts';

test('the banner names product, model, device and features', async () => {
  const phone = await startPhone({ model: 'Pixel 9' });
  const answer = await new RawClient(phone.port).connect();
  expect(answer.command).toBe(adbCommand.cnxn);
  expect(answer.arg1).toBe(1024 * 1024);
  expect(answer.payload.toString()).toBe(
    'device::ro.product.name=simulated;ro.product.model=Pixel 9;ro.product.device=simulated;' +
      'features=shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir',
  );
});

test('a wrong magic closes the connection', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  const header = encodeHeader(
    { command: adbCommand.open, arg0: 1, arg1: 0, payload: Buffer.alloc(0) },
    false,
  );
  header.writeUInt32LE(7, 20);
  client.socket.write(header);
  expect(await client.closed()).toBe(true);
});

test.each([4097, 2 ** 32 - 1])(
  'an announced payload of %i bytes before the handshake closes the connection',
  async (size) => {
    const phone = await startPhone();
    const client = new RawClient(phone.port);
    const header = encodeHeader(
      { command: adbCommand.cnxn, arg0: 0, arg1: 0, payload: Buffer.alloc(0) },
      false,
    );
    header.writeUInt32LE(size, 12);
    client.socket.write(header);
    expect(await client.closed()).toBe(true);
  },
);

test('a payload larger than the agreed limit closes the connection and other connections go on', async () => {
  const phone = await startPhone();
  const other = new RawClient(phone.port);
  await other.connect();
  const client = new RawClient(phone.port);
  await client.connect();
  const header = encodeHeader(
    { command: adbCommand.wrte, arg0: 1, arg1: 1, payload: Buffer.alloc(0) },
    false,
  );
  header.writeUInt32LE(1024 * 1024 + 1, 12);
  client.socket.write(header);
  expect(await client.closed()).toBe(true);
  expect(await other.open('exec:true')).toBeGreaterThan(0);
});

test('random bytes close the connection', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  client.socket.write(Buffer.alloc(64, 0xa5));
  expect(await client.closed()).toBe(true);
});

test('no stream can be opened before the handshake', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  client.send(adbCommand.open, 1, 0, Buffer.from('exec:true\0'));
  const answer = await client.connect();
  expect(answer.command).toBe(adbCommand.cnxn);
  expect(client.waitingCount).toBe(0);
});

test('an unknown service is refused with CLSE', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  client.send(adbCommand.open, 5, 0, Buffer.from('jdwp:1\0'));
  expect(await client.next()).toMatchObject({ command: adbCommand.clse, arg0: 0, arg1: 5 });
});

test('only one WRTE is sent until the peer says OKAY', async () => {
  const phone = await startPhone();
  phone.android.files.writeFile('/sdcard/big', Buffer.alloc(5000, 1));
  const client = new RawClient(phone.port);
  await client.connect(1024);
  const deviceId = await client.open('exec:cat /sdcard/big');
  let received = (await client.next()).payload.length;
  expect(received).toBe(1024);
  // Another service replies in between, and no second chunk has arrived.
  await client.open('exec:true', 2).then(() => client.next());
  expect(client.waitingCount).toBe(0);
  while (received < 5000) {
    client.send(adbCommand.okay, 1, deviceId);
    const piece = await client.next();
    expect(piece.command).toBe(adbCommand.wrte);
    received += piece.payload.length;
  }
  client.send(adbCommand.okay, 1, deviceId);
  expect((await client.next()).command).toBe(adbCommand.clse);
});

test.each(['exec:sleep 60', 'sync:', 'shell,v2,raw:sleep 60'])(
  'the CLSE of the peer for %s is answered by one, as adbd does',
  async (service) => {
    const phone = await startPhone();
    const client = new RawClient(phone.port);
    await client.connect();
    const deviceId = await client.open(service, 7);
    client.send(adbCommand.clse, 7, deviceId);
    expect(await client.next()).toMatchObject({ command: adbCommand.clse, arg0: deviceId, arg1: 7 });
    // The stream is then closed on this side too.
    client.send(adbCommand.clse, 7, deviceId);
    await client.open('sync:', 8);
    expect(client.waitingCount).toBe(0);
  },
);

test('a peer that floods a stream without waiting for OKAY is cut off', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  const deviceId = await client.open('exec:sleep 60');
  for (let index = 0; index < 8; index++)
    client.send(adbCommand.wrte, 1, deviceId, Buffer.alloc(1024 * 1024));
  expect(await client.closed()).toBe(true);
});

function androidKey() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const modulus = Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url');
  const bytes = Buffer.alloc(524);
  bytes.writeUInt32LE(64, 0);
  Buffer.from(modulus.toReversed()).copy(bytes, 8);
  bytes.writeUInt32LE(65537, 520);
  return { privateKey, text: `${bytes.toString('base64')} tester@desk\0` };
}

/** Signs the token like adb does: as if it were a SHA-1 digest. */
function signToken(privateKey: KeyObject, token: Buffer): Buffer {
  const digestInfo = Buffer.concat([Buffer.from('3021300906052b0e03021a05000414', 'hex'), token]);
  return privateEncrypt({ key: privateKey, padding: constants.RSA_PKCS1_PADDING }, digestInfo);
}

test('an unknown key is asked for, and let in when the user taps Allow', async () => {
  const phone = await startPhone({ requireAuthorization: true });
  const key = androidKey();
  const client = new RawClient(phone.port);
  expect(await client.connect()).toMatchObject({ command: adbCommand.auth, arg0: 1 });
  client.send(adbCommand.auth, 3, 0, Buffer.from(key.text));
  await phone.authorization.waitForRequest();
  expect(phone.authorization.requestCount).toBe(1);
  phone.authorization.allow();
  expect((await client.next()).command).toBe(adbCommand.cnxn);
});

test('a known key is let in by its signature, and a signature of another token is not', async () => {
  const phone = await startPhone({ requireAuthorization: true });
  const key = androidKey();
  phone.authorization.trust(key.text);
  const client = new RawClient(phone.port);
  const first = await client.connect();
  client.send(adbCommand.auth, 2, 0, signToken(key.privateKey, Buffer.alloc(20)));
  const second = await client.next();
  expect(second).toMatchObject({ command: adbCommand.auth, arg0: 1 });
  expect(second.payload).not.toEqual(first.payload);
  client.send(adbCommand.auth, 2, 0, signToken(key.privateKey, second.payload));
  expect((await client.next()).command).toBe(adbCommand.cnxn);
});

test('a public key that is none closes the connection', async () => {
  const phone = await startPhone({ requireAuthorization: true });
  const client = new RawClient(phone.port);
  await client.connect();
  client.send(adbCommand.auth, 3, 0, Buffer.from('ssh-rsa AAAA'));
  expect(await client.closed()).toBe(true);
  expect(phone.authorization.requestCount).toBe(0);
});

test('the unauthorized fault asks for ever, also for a trusted key', async () => {
  const phone = await startPhone();
  phone.faults.unauthorized = true;
  const key = androidKey();
  phone.authorization.trust(key.text);
  const client = new RawClient(phone.port);
  const { payload } = await client.connect();
  client.send(adbCommand.auth, 2, 0, signToken(key.privateKey, payload));
  expect(await client.next()).toMatchObject({ command: adbCommand.auth, arg0: 1 });
});

test('the offline fault never answers the handshake', async () => {
  const phone = await startPhone();
  const online = new RawClient(phone.port);
  await online.connect();
  phone.faults.offline = true;
  // The open connection stays alive and makes the check deterministic: its reply arrives after the ignored CNXN was
  // read.
  online.send(adbCommand.cnxn, 0x01000001, 4096, Buffer.from('host::'));
  expect(await online.open('exec:true')).toBeGreaterThan(0);
  expect((await online.next()).command).toBe(adbCommand.clse);
  expect(online.waitingCount).toBe(0);
});

test('dropAfterBytes cuts a transfer in the middle', async () => {
  const phone = await startPhone();
  phone.android.files.writeFile('/sdcard/big', Buffer.alloc(2_000_000, 1));
  phone.faults.dropAfterBytes = 100_000;
  const client = new RawClient(phone.port);
  await client.connect();
  const deviceId = await client.open('exec:cat /sdcard/big');
  client.send(adbCommand.okay, 1, deviceId);
  expect(await client.closed()).toBe(true);
});

test('hang accepts and never answers, and works again when it is over', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  phone.faults.hang = true;
  client.send(adbCommand.open, 1, 0, Buffer.from('exec:true\0'));
  const other = new RawClient(phone.port);
  await expect.poll(() => phone.connectionCount).toBe(2);
  phone.faults.hang = false;
  expect(await client.open('exec:true', 2)).toBeGreaterThan(0);
  expect((await other.connect()).command).toBe(adbCommand.cnxn);
});

test('fifty phones run in one process', async () => {
  const phones = await Promise.all(
    Array.from({ length: 50 }, (_, index) => startPhone({ serial: `SIM-${index}` })),
  );
  expect(new Set(phones.map((phone) => phone.port)).size).toBe(50);
  const clients = await Promise.all(
    phones.map(async (phone) => {
      const client = new RawClient(phone.port);
      await client.connect();
      await client.open('exec:getprop ro.serialno');
      return (await client.next()).payload.toString().trim();
    }),
  );
  expect(clients).toEqual(phones.map((phone) => phone.serial));
});
