// A run that was steered by hand, and its document run from the start: the same bits. Here, because
// lab may not load the GPU side.
import { expect, test } from 'vitest'
import { decodeLink, encodeLink } from '../../../document/links/link.ts'
import { TINY, tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { phase, run, startedBy } from './testing.ts'

test('PPO, GRPO and BuPO chosen by hand in one run are repeated by its document and by its link', async () => {
  const document = tinyExperiment({
    phases: [
      { kind: 'sft', steps: 3 },
      { kind: 'rl', steps: 4 },
    ],
  })
  const byHand = await run(document, {
    // Critic, reference and adaptive coefficient are new: a rebuild in the middle of a warm start.
    2: [
      {
        kind: 'insert_phase',
        phase: phase({
          kind: 'rl',
          steps: 5,
          adv_estimator: 'gae',
          algorithm: { use_kl_in_reward: true, kl_ctrl: { type: 'adaptive', kl_coef: 0.1 } },
        }),
      },
    ],
    4: [
      { kind: 'set', path: 'critic.optim.lr', value: 0.004 },
      { kind: 'set', path: 'rollout.temperature', value: 0.8 },
    ],
    // A larger batch, more tokens: a rebuild with a critic at work.
    5: [
      {
        kind: 'insert_phase',
        phase: phase({
          kind: 'rl',
          steps: 9,
          rollout: { train_batch_size: 8, max_response_length: 6 },
        }),
      },
    ],
    // In place: the same buffers.
    7: [{ kind: 'insert_phase', phase: phase({ kind: 'rl', steps: 2, target_layer: 1 }) }],
    8: [{ kind: 'repeat_phase' }, { kind: 'set', path: 'actor.optim.lr', value: 0.0005 }],
    12: [{ kind: 'next_phase' }, { kind: 'append_phase', phase: phase({ kind: 'rl', steps: 2 }) }],
  })
  expect(byHand.done.filter(({ refused }) => refused)).toEqual([])
  expect(byHand.rebuilds).toBe(2)
  expect(startedBy(byHand.results)).toEqual([
    [0, 0, 'start'],
    [3, 1, 'insert_phase'],
    [6, 2, 'insert_phase'],
    [8, 3, 'insert_phase'],
    [10, 4, 'steps'],
    [12, 5, 'steps'],
    [13, 6, 'next_phase'],
  ])
  const { steering } = byHand.done[byHand.done.length - 1]
  expect(steering).toHaveLength(9)

  const steered = tinyExperiment({ ...document, steering })
  const again = await run(decodeLink(encodeLink(steered)).experiment)
  expect(again.results).toEqual(byHand.results)
  expect(again.weights).toEqual(byHand.weights)
  expect(again.done.map(({ entry }) => entry)).toEqual(steering)
  // The changes count.
  const without = await run(
    tinyExperiment({ ...steered, steering: steering.filter(({ kind }) => kind !== 'set') }),
    {},
    5,
  )
  expect(without.results.slice(0, 5)).toEqual(byHand.results.slice(0, 5))
  expect(without.results[5]).not.toEqual(byHand.results[5])
})

test('a phase with a KL has the reference that reinforcement began with, added by hand or typed beforehand', async () => {
  const heldBack = (steps: number) => ({
    kind: 'rl',
    steps,
    actor: { use_kl_loss: true, kl_loss_coef: 0.5 },
    algorithm: { use_kl_in_reward: true, kl_ctrl: { kl_coef: 0.5 } },
  })
  const sft = { kind: 'sft', steps: 2 }
  const long = { steps: 2, rollout: { train_batch_size: 8 } }
  // The entropy moves the policy, even where no response is right.
  const actor = { ...TINY.actor, entropy_coeff: 0.1 }
  const shared = { actor, validation: { test_freq: null } }
  const typed = await run(
    tinyExperiment({
      ...shared,
      phases: [sft, { kind: 'rl', steps: 3 }, heldBack(2), { ...heldBack(2), ...long }],
    }),
  )
  const byHand = await run(
    tinyExperiment({ ...shared, phases: [sft, { kind: 'rl', steps: 9 }] }),
    // The second one needs larger buffers: the reference moves to them.
    {
      5: [{ kind: 'insert_phase', phase: phase(heldBack(2)) }],
      7: [{ kind: 'insert_phase', phase: phase({ ...heldBack(2), ...long }) }],
    },
  )
  const metrics = (of: typeof typed) => of.results.map(({ step, metrics }) => ({ step, metrics }))
  expect(byHand.done.filter(({ refused }) => refused)).toEqual([])
  expect(byHand.rebuilds).toBe(1)
  const kl = typed.results.flatMap(({ metrics }) => metrics['actor/reward_kl_penalty'] ?? [])
  expect(kl).toHaveLength(4)
  // Three steps of reinforcement lie behind the first of them.
  expect(kl[0]).not.toBe(0)
  expect(metrics(byHand)).toEqual(metrics(typed))
  expect(byHand.weights).toEqual(typed.weights)
})

test('what cannot be done is refused, changes nothing and is not in the document', async () => {
  const document = tinyExperiment({ phases: [{ kind: 'rl', steps: 3 }] })
  const plain = await run(document)
  const refused = await run(document, {
    1: [
      { kind: 'remove_phase', index: 0 },
      { kind: 'set', path: 'rollout.n', value: 8 },
    ],
  })
  expect(refused.done.map((steered) => [steered.refused !== undefined, steered.steering])).toEqual([
    [true, []],
    [true, []],
  ])
  expect(refused.results).toEqual(plain.results)
  expect(refused.weights).toEqual(plain.weights)
})

test('of values that no step has seen only the last is kept, and it gives the same run', async () => {
  const document = tinyExperiment({ phases: [{ kind: 'rl', steps: 3 }] })
  const lr = (value: number) => ({ kind: 'set', path: 'actor.optim.lr', value }) as const
  const other = { kind: 'set', path: 'rollout.temperature', value: 0.9 } as const
  const slid = await run(document, { 1: [lr(0.01), lr(0.02), other, lr(0.03)], 2: [lr(0.001)] })
  // Also where something else was set between them.
  const steering = [
    { step: 1, ...other },
    { step: 1, ...lr(0.03) },
    { step: 2, ...lr(0.001) },
  ]
  expect(slid.done).toHaveLength(5)
  expect(slid.done.at(-1)?.steering).toEqual(steering)
  const again = await run(tinyExperiment({ ...document, steering }))
  expect(again.results).toEqual(slid.results)
  expect(again.weights).toEqual(slid.weights)
})

test('a phase that was ended is not ended once more, however often the button is pressed', async () => {
  const document = tinyExperiment({
    phases: [
      { kind: 'sft', steps: 3 },
      { kind: 'rl', steps: 2 },
      { kind: 'rl', steps: 1 },
    ],
  })
  const next = { kind: 'next_phase' } as const
  const pressed = await run(document, { 1: [next, next, next], 2: [next] })
  expect(pressed.done.map(({ entry }) => entry)).toEqual([
    { step: 1, ...next },
    { step: 2, ...next },
  ])
  expect(startedBy(pressed.results)).toEqual([
    [0, 0, 'start'],
    [2, 1, 'next_phase'],
    [3, 2, 'next_phase'],
  ])
})

test('a run that is prolonged at its last step continues', async () => {
  const document = tinyExperiment({ phases: [{ kind: 'rl', steps: 2 }] })
  const longer = await run(document, { 2: [{ kind: 'repeat_phase' }] })
  expect(longer.results.map(({ step, phase: p }) => [step, p])).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [3, 1],
    [4, 1],
  ])
})
