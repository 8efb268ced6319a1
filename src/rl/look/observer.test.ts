import { expect, test } from 'vitest'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { NO_OBSERVATION } from './observation.ts'
import { Observer } from './observer.ts'

test('the step after tokens were asked for brings them, however seldom steps are observed', () => {
  const gpu = { counts: { dispatches: 0 } } as unknown as Gpu
  const observer = new Observer(gpu, {} as TrainerConfig, {} as never)
  const traced = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((step) =>
      observer.takesTokens(step),
    )
  const asked = { ...NO_OBSERVATION, tokens: true, every: 5 }
  expect(traced(1, 6)).toEqual([])
  observer.ask(asked)
  // A second request that changes something else, before a step was taken.
  observer.ask({ ...asked, token_layers: true })
  expect(traced(7, 15)).toEqual([7, 10, 15])
  observer.ask({ ...asked, tokens: false })
  expect(traced(16, 20)).toEqual([])
  observer.ask(asked)
  expect(traced(21, 24)).toEqual([21])
})
