import { expect, test } from 'vitest'
import { parsed } from '../../../document/experiment/testing.ts'
import type { SteeredTrainer } from './steered_engine.ts'
import { SteeredRun } from './steered_run.ts'

/** A trainer that counts its steps. */
function counted(lastOfPhase = Number.POSITIVE_INFINITY) {
  let step = 0
  const trainer = {
    phase: 0,
    isFinished: false,
    get isPhaseOver() {
      return step >= lastOfPhase
    },
    nextPhase: () => {},
    get step() {
      return step
    },
    get phase_step() {
      return step
    },
    queue: async () => step++,
    adopt: async () => true,
  }
  return trainer as unknown as SteeredTrainer
}

const set = (step: number, path: string, value: number) =>
  ({ step, kind: 'set', path, value }) as const

test('a field that a person sets is not set again by what the document had to come', async () => {
  const steering = [
    set(2, 'actor.optim.lr', 0.002),
    set(3, 'rollout.temperature', 0.9),
    set(4, 'actor.optim.lr', 0.003),
  ]
  const document = parsed({ phases: [{ kind: 'rl', steps: 10 }], steering })
  const engine = { create: async () => counted(), release: () => {}, refusal: () => undefined }
  const run = await SteeredRun.begin(engine, document)
  const rates: number[] = []
  let last: readonly unknown[] = steering
  for (let step = 0; step < 6; step++) {
    if (step === 3) run.steer({ kind: 'set', path: 'actor.optim.lr', value: 0.005 })
    for (const done of await run.obey()) last = done.steering
    rates.push(run.experiment.actor.optim.lr)
    await run.queue()
  }
  const { lr } = document.actor.optim
  expect(rates).toEqual([lr, lr, 0.002, 0.005, 0.005, 0.005])
  // The record does the same again, and keeps what was planned of others.
  expect(run.experiment.rollout.temperature).toBe(0.9)
  expect(last).toEqual([...steering.slice(0, 2), set(3, 'actor.optim.lr', 0.005)])
})

test('a phase that is over needs nobody to end it: nothing is recorded', async () => {
  const phases = [
    { kind: 'sft', steps: 2 },
    { kind: 'rl', steps: 10 },
  ]
  const engine = { create: async () => counted(2), release: () => {}, refusal: () => undefined }
  const recorded = async (steps: number) => {
    const run = await SteeredRun.begin(engine, parsed({ phases }))
    for (let step = 0; step < steps; step++) await run.queue()
    run.steer({ kind: 'next_phase' })
    return (await run.obey()).map(({ entry }) => entry)
  }
  expect(await recorded(1)).toEqual([{ step: 1, kind: 'next_phase' }])
  expect(await recorded(2)).toEqual([])
})
