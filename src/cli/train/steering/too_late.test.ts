// A change that no step would see is none of the run.
import { expect, test } from 'vitest'
import { newPhase } from '../../../document/experiment/experiment.ts'
import { tinyExperiment } from '../../../host/checkpoints/testing.ts'
import { madeUpRun } from '../testing.ts'

const EXPERIMENT = tinyExperiment({ phases: [{ kind: 'sft', steps: 3 }] })
const LR = { kind: 'set', path: 'actor.optim.lr', value: 0.0015 } as const

async function after(steps: number) {
  const run = await madeUpRun(EXPERIMENT)
  // The first of them takes step 0.
  for (let i = 0; i <= steps; i++) await run.queue()
  return run
}

test('a value that is set after the last step is refused', async () => {
  const run = await after(3)
  expect(run.isFinished).toBe(true)
  run.steer(LR)
  const [{ refused, steering, experiment }] = await run.obey()
  expect([refused, steering]).toEqual(['the run has taken its last step', []])
  expect(experiment.actor.optim.lr).toBe(EXPERIMENT.actor.optim.lr)
})

test('it is set where steps follow: before the end, or because the run is made longer', async () => {
  const early = await after(2)
  early.steer(LR)
  expect(await early.obey()).toMatchObject([{ steering: [LR] }])
  const longer = await after(3)
  longer.steer(LR)
  longer.steer({ kind: 'append_phase', phase: { ...newPhase('sft'), steps: 2 } })
  expect((await longer.obey()).map(({ refused }) => refused)).toEqual([undefined, undefined])
  expect(longer.experiment.actor.optim.lr).toBe(LR.value)
})
