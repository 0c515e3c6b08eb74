import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { isolatedEnv } from '../../../client/isolated-env.mjs';
import { businessKey } from '../../../core/identity.ts';
import { NODE_FLAGS, projectRoot } from '../../../stack/runtime.mjs';
import { openMessages } from '../../observe/messages.ts';
import { until } from '../../observe/until.ts';
import type { Outcome, Stage } from '../../scenario.ts';
import type { PostgresProxy } from '../../wire/postgres/proxy.ts';
import type { World } from '../../world/world.ts';
import { HANDLER_TABLES, type HandlerJob } from './job.ts';
import { killAt, openWire, type Point } from './kill.ts';

const SCRIPT = join(projectRoot, 'lab/scenarios/once-and-the-mail/handler.ts');

/** Within the transaction the mail is out before the commit: there is no third point. */
const CASES: readonly { mail: HandlerJob['mail']; points: readonly Point[] }[] = [
  { mail: 'in the transaction', points: ['before the commit', 'after the commit'] },
  {
    mail: 'after the commit',
    points: ['before the commit', 'after the commit', 'after the mail'],
  },
];

/** The handler, with the mail in either place, killed at each point; then another one takes over. */
export async function handlerAsWritten(stage: Stage): Promise<Outcome> {
  const world = await stage.world();
  const transport = await openMessages(stage, world);
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  stage.cleanUp(() => pool.end());
  await pool.query(HANDLER_TABLES);

  const counted: Record<string, number> = {};
  for (const { mail, points } of CASES) {
    const referenceAt = (point: Point) => {
      const orderRef = `${mail} ${point}`.replaceAll(' ', '-');
      return businessKey({ buyerId: world.name, orderRef });
    };
    const job = {
      queue: `invoices-${mail.replaceAll(' ', '-')}`,
      mail,
      visibilityMs: 2_000,
    };
    const wire = await openWire(stage, world, points.map(referenceAt));
    const victim = startHandler(stage, world, wire, job);
    await victim.during(
      killAt(world, wire, {
        table: 'lab_invoice',
        at: Object.fromEntries(points.map((point) => [point, referenceAt(point)])),
        bring: (reference) => transport.send(pool, job.queue, [{ body: { reference } }]),
        kill: victim.kill,
      }),
    );
    await stage.say(`handler with the mail ${mail} killed, ${points.length} invoices in its hands`);
    const successor = startHandler(stage, world, wire, job);
    await successor.during(
      until('every invoice handled', async () => {
        const { available, inFlight, delayed } = await transport.counts(job.queue);
        return available + inFlight + delayed === 0 ? true : undefined;
      }),
    );
    await successor.kill();
    for (const point of points) {
      const { mail: mails } = await world.partners.counts(referenceAt(point));
      counted[`mail ${mail}, killed ${point}`] = mails;
      await stage.say(`mail ${mail}, killed ${point}: ${mails} sent`);
    }
  }
  return judge(counted);
}

function judge(counted: Record<string, number>): Outcome {
  const mails = Object.values(counted);
  const twice = mails.some((times) => times > 1) ? ['mailed twice'] : [];
  const never = mails.includes(0) ? ['never mailed'] : [];
  const how = [...twice, ...never].join(' or ');
  return how === '' ? { verdict: 'held', counted } : { verdict: 'broke', how, counted };
}

function startHandler(
  { cleanUp }: Stage,
  { databaseUrl, partnersUrl }: World,
  wire: PostgresProxy,
  job: Omit<HandlerJob, 'databaseUrl' | 'partnersUrl'>,
) {
  const whole: HandlerJob = { ...job, databaseUrl: wire.url(databaseUrl, 'handler'), partnersUrl };
  const handler = execa(process.execPath, [...NODE_FLAGS, SCRIPT], {
    env: { ...isolatedEnv(process.env), Q2T_LAB_HANDLER: JSON.stringify(whole) },
    extendEnv: false,
    cwd: projectRoot,
    reject: false,
  });
  let killed = false;
  const kill = async () => {
    killed = true;
    handler.kill('SIGKILL');
    await handler;
  };
  cleanUp(kill);
  return {
    kill,
    /** What `work` comes to, or an error when the handler ends by itself before that. */
    async during(work: Promise<unknown>): Promise<void> {
      const died = handler.then(({ stdout, stderr }) => {
        if (!killed) throw new Error(`the handler ended by itself: ${stderr || stdout}`);
        return work;
      });
      work.catch(() => undefined);
      await Promise.race([work, died]);
    },
  };
}
