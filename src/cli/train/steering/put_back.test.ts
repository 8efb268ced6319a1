// What a run keeps of changes that a person makes and takes back between two of its steps.
import { expect, test } from 'vitest'
import type { SteeringAction } from '../../../document/experiment/steering/actions.ts'
import { tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { madeUpRun } from '../testing.ts'

const lr = (value: number): SteeringAction => ({ kind: 'set', path: 'actor.optim.lr', value })
const warmth = (value: number): SteeringAction => ({
  kind: 'set',
  path: 'rollout.temperature',
  value,
})

test('a value that is put back before a step has seen another is no change', async () => {
  const document = tinyExperiment({ phases: [{ kind: 'rl', steps: 9 }] })
  const began = document.actor.optim.lr
  const run = await madeUpRun(document)
  const asked = async (...actions: SteeringAction[]) => {
    for (const action of actions) run.steer(action)
    const steered = await run.obey()
    // Each is answered, so that who asked need not wait.
    expect(steered).toHaveLength(actions.length)
    return steered.at(-1)?.steering
  }
  await run.queue()
  const { step } = run
  expect(await asked(lr(0.02), lr(0.03), lr(began))).toEqual([])
  // The same in several messages, around a change that stays.
  await asked(warmth(0.5))
  await asked(lr(0.02))
  expect(await asked(lr(began))).toEqual([{ step, ...warmth(0.5) }])
  expect(await asked(warmth(document.rollout.temperature))).toEqual([])
  await asked(lr(0.02))
  await run.queue()
  // A step has seen it: back is a change.
  expect(await asked(lr(began))).toEqual([
    { step, ...lr(0.02) },
    { step: step + 1, ...lr(began) },
  ])
})

test('what is put back leaves other changes of the same moment, whatever their order', async () => {
  const document = tinyExperiment({ phases: [{ kind: 'rl', steps: 9 }] })
  const began = document.actor.optim.lr
  const run = await madeUpRun(document)
  await run.queue()
  const { step } = run
  const asked = async (...actions: SteeringAction[]) => {
    for (const action of actions) run.steer(action)
    return (await run.obey()).at(-1)?.steering
  }
  expect(await asked(lr(0.02), warmth(0.5), lr(began))).toEqual([{ step, ...warmth(0.5) }])
  expect(await asked(lr(0.03), warmth(0.6))).toEqual([
    { step, ...lr(0.03) },
    { step, ...warmth(0.6) },
  ])
  expect(await asked(lr(began), warmth(document.rollout.temperature))).toEqual([])
  expect(run.experiment.actor.optim.lr).toBe(began)
  // A phase that says what it would take over all the same has changed nothing.
  const own = (value: number): SteeringAction => ({
    kind: 'set',
    path: 'phases.0.actor.optim.lr',
    value,
  })
  expect(await asked(own(0.02), own(began))).toEqual([])
})
