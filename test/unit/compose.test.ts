import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { SearchAttributeType } from '@temporalio/common';
import { z } from 'zod';
import { searchAttributes } from '../../workflows/search-attributes.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');

/** The parts of the file that the rules below are about; the official schema checks the rest. */
const serviceSchema = z.object({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  ports: z.array(z.string()).default([]),
  restart: z.string(),
  volumes: z.array(z.string()).default([]),
});
const composeSchema = z.object({ services: z.record(z.string(), serviceSchema) });

async function composeFile(): Promise<unknown> {
  return parse(await read('docker-compose.yml'), { merge: true }) as unknown;
}

async function services() {
  return Object.entries(composeSchema.parse(await composeFile()).services);
}

async function composeValidator() {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  return ajv.compile(JSON.parse(await read('docker/compose-spec.schema.json')) as object);
}

test('docker-compose.yml is valid by the schema of the compose specification', async () => {
  const validate = await composeValidator();
  const valid = validate(await composeFile());
  assert.deepEqual(validate.errors ?? [], []);
  assert.equal(valid, true);
});

test('the schema refuses a compose file with a mistake in it', async () => {
  const validate = await composeValidator();
  const typo = { services: { worker: { image: 'queue-to-temporal:0.1.0', helthcheck: {} } } };
  assert.equal(validate(typo), false);
  const wrongType = { services: { worker: { image: 'queue-to-temporal:0.1.0', ports: 7233 } } };
  assert.equal(validate(wrongType), false);
});

test('every published port is on the loopback address', async () => {
  const ports = (await services()).flatMap(([, service]) => service.ports);
  assert.ok(ports.length >= 3);
  for (const port of ports) assert.match(port, /^127\.0\.0\.1:/);
});

test('every image has a full version for its tag, and auto-setup is none of them', async () => {
  for (const [name, { image }] of await services()) {
    assert.match(image, /^[a-z/-]+:\d+\.\d+(\.\d+)?$/, name);
    assert.doesNotMatch(image, /auto-setup/);
  }
});

test('what runs on has a health check, what ends is awaited, and every dependency exists', async () => {
  const all = new Map(await services());
  for (const [name, service] of all) {
    const runsOn = service.restart === 'unless-stopped';
    const isAskedFor = [...all.values()].some((other) => name in other.depends_on);
    if (runsOn && isAskedFor) assert.ok(service.healthcheck, `${name} has no health check`);
    for (const [dependency, { condition }] of Object.entries(service.depends_on)) {
      const needed = all.get(dependency);
      assert.ok(needed, `${name} depends on ${dependency}, which is not there`);
      const expected =
        needed.restart === 'unless-stopped' ? 'service_healthy' : 'service_completed_successfully';
      assert.equal(condition, expected, `${name} on ${dependency}`);
    }
  }
  assert.ok(all.get('worker')?.healthcheck);
});

test('two workers run', async () => {
  const replicas = z.object({
    services: z.object({ worker: z.object({ deploy: z.object({ replicas: z.literal(2) }) }) }),
  });
  replicas.parse(await composeFile());
});

test('every mounted file and every command of our image exists', async () => {
  for (const [name, service] of await services()) {
    const mounted = service.volumes.map((volume) => volume.split(':')[0] ?? '');
    const scripts = service.build === undefined ? [] : (service.command ?? []).slice(1);
    const files = [...mounted.filter((path) => path.startsWith('./')), ...scripts];
    for (const file of files) {
      await assert.doesNotReject(access(new URL(file, root)), `${name} needs ${file}`);
    }
  }
});

test('there is no password in the file but the default for this machine', async () => {
  const file = await read('docker-compose.yml');
  const withPassword = file
    .split('\n')
    .filter((line) => /passw|pwd/i.test(line) && !/^\s*#/.test(line));
  assert.ok(withPassword.length > 0);
  for (const line of withPassword) {
    assert.match(line, /\*postgres-password|\$\{POSTGRES_PASSWORD:-only-on-this-machine\}/);
  }
});

test('the namespace script registers the search attributes of the workflow', async () => {
  const script = await read('docker/temporal-namespace.sh');
  const listed = /<<'ATTRIBUTES'\n(.*)\nATTRIBUTES/s.exec(script)?.[1]?.split('\n');
  const nameOf = new Map<string, string>([
    [SearchAttributeType.KEYWORD, 'Keyword'],
    [SearchAttributeType.DATETIME, 'Datetime'],
  ]);
  const expected = searchAttributes.map(({ name, type }) => `${name} ${nameOf.get(type) ?? type}`);
  assert.deepEqual(listed, expected);
});

test('the Dockerfile copies folders that exist and does not run as root', async () => {
  const dockerfile = await read('Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY ([a-z]+) \.\/\1$/gm)].map(
    (match) => match[1] ?? '',
  );
  assert.ok(copied.includes('workers'));
  for (const folder of copied) await access(fileURLToPath(new URL(folder, root)));
  assert.match(dockerfile, /^USER node$/m);
  assert.match(dockerfile, /^FROM node:24-slim/m);
});
