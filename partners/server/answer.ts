import type { FastifyReply } from 'fastify';
import type { Socket } from 'node:net';
import type { z } from 'zod';
import type { FaultEffect } from '../faults.ts';
import type { Desk } from './desk.ts';
import type { Asked } from './faults.ts';
import type { HoldEnd } from './holds.ts';

export interface Answer {
  status: number;
  body: z.core.util.JSONType;
}

interface Caller {
  asked: Asked;
  socket: Socket;
  reply: FastifyReply;
}

/** Does the work, after `delay` if one is given. Undefined when the partners closed before. */
type Work = (delay: (() => Promise<HoldEnd>) | undefined) => Promise<Answer | undefined>;

/** Puts the fault that strikes, if any, around the work. That the caller is gone changes nothing. */
export async function answerThroughFault(desk: Desk, caller: Caller, work: Work): Promise<void> {
  const { asked, reply } = caller;
  const struck = desk.faults.draw(asked);
  if (!struck) return answer(caller, await work(undefined));
  const { faultId, effect } = struck;
  const { partner, operation, reference, key } = asked;
  desk.log.info(
    { partner, operation, reference, key, faultId, kind: effect.kind },
    'fault strikes',
  );
  const hold = (acted: boolean, landAfterMs: number | undefined) => {
    const order = { ...(reference && { reference }), ...(key && { key }) };
    const { socket } = caller;
    return desk.holds.hold({ partner, operation, ...order, faultId, acted, socket }, landAfterMs);
  };

  switch (effect.kind) {
    case 'status':
      return answerStatus(reply, effect);
    case 'delay':
      return answer(caller, await work(() => hold(false, effect.ms)));
    case 'drop-before':
      return hangUp(caller);
    case 'drop-after':
      await work(undefined);
      return hangUp(caller);
    case 'hang-before': {
      const end = await hold(false, effect.landAfterMs);
      return end === 'released' ? answer(caller, await work(undefined)) : hangUp(caller);
    }
    case 'hang-after': {
      const done = await work(undefined);
      const end = await hold(true, effect.landAfterMs);
      return end === 'released' ? answer(caller, done) : hangUp(caller);
    }
    default:
      return effect satisfies never;
  }
}

function answer(caller: Caller, done: Answer | undefined): void {
  if (done) void caller.reply.code(done.status).send(done.body);
  else hangUp(caller);
}

function answerStatus(reply: FastifyReply, effect: FaultEffect & { kind: 'status' }): void {
  const { status, retryAfter } = effect;
  const usual = { error: `fault-${status}`, message: 'a fault set with POST /control/faults' };
  const body = effect.body ?? usual;
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  reply.code(status).type('application/json');
  void reply.send(typeof body === 'string' ? body : JSON.stringify(body));
}

function hangUp({ reply, socket }: Caller): void {
  reply.hijack();
  socket.destroy();
}
