// A run whose layers are read through lenses while it trains: no bit of it changes, a fitted lens
// is nearer to the final policy than none, and one of a file is taken as it is.
import { expect, test } from 'vitest'
import { expectClose } from '../../../kernels/testing.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { lensSize } from '../../../model/layout/translators.ts'
import { writeLens } from '../../../model/lenses/lens_file.ts'
import { knowFile } from '../../config/begun_files.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { NO_OBSERVATION } from '../../look/observation.ts'
import { BUPO, L, numbers, ROUNDING, train } from '../../look/testing.ts'
import { RL } from '../../testing.ts'

const READ = {
  ...NO_OBSERVATION,
  groups: ['entropy'] as const,
  readings: ['tuned', 'jacobian'] as const,
}

/** A lens that leaves states as they are, so that it reads what the norm alone reads. */
function identity(): TrainerConfig['lensFiles'] {
  const shape = modelShape(BUPO.model)
  const { hidden_size } = shape
  const lens = { readout: 'tuned', hidden_size, values: new Float32Array(lensSize(shape)) } as const
  const hash = 'sha256-identity'
  knowFile({ hash, name: 'tuned.safetensors', bytes: writeLens(lens, { shape, hash: 'any' }) })
  return { tuned: hash }
}

const SHORT: TrainerConfig = { ...BUPO, phases: [{ ...RL, steps: 1 }] }

const observed = async (config: TrainerConfig) =>
  (await train(config, READ)).results.flatMap(({ step, observation }) =>
    observation ? [{ step, observation }] : [],
  )

const mean = (values: readonly number[] = []) => values.reduce((a, b) => a + b, 0) / values.length

test('a run that is read through lenses at every step has the bits of one that nobody looks at', async () => {
  const plain = await train(BUPO)
  const read = await train(BUPO, READ)
  expect(numbers(read.results)).toEqual(numbers(plain.results))
  expect(read.weights).toEqual(plain.weights)
  for (const { observation } of read.results) {
    expect(observation?.refused).toBeUndefined()
    expect(observation?.readings?.map(({ readout }) => readout)).toEqual(['tuned', 'jacobian'])
    expect(observation?.cost_ms.readings).toBeGreaterThan(0)
    for (const { fitted_after, entropy, kl } of observation?.readings ?? []) {
      // Fitted once, where it was first asked for.
      expect(fitted_after).toBe(0)
      expect(entropy).toHaveLength(L)
      expect(kl).toHaveLength(L)
      for (const value of [...entropy, ...kl]) expect(Number.isFinite(value)).toBe(true)
    }
  }
})

test('a lens of a file is read as it is, and a fitted one is nearer to the final policy', async () => {
  const given = await observed({ ...SHORT, lensFiles: identity() })
  for (const { observation } of given) {
    const [reading] = observation.readings ?? []
    expect(reading.fitted_after).toBeUndefined()
    expectClose(reading.entropy, observation.mean.ent_layer_norm?.slice(0, L) ?? [], ROUNDING)
  }
  if (!process.env.LONG_TESTS) return
  const fitted = await observed(SHORT)
  const klOf = (runs: typeof given) => mean(runs[0].observation.readings?.[0].kl)
  expect(klOf(fitted)).toBeGreaterThan(0)
  expect(klOf(fitted)).toBeLessThan(klOf(given))
})

test('what cannot be read through a lens says why', async () => {
  const [{ observation }] = await observed({ ...SHORT, lensFiles: { tuned: 'sha256-none' } })
  expect(observation.refused).toBe(
    'readings: tuned: model.lenses.tuned: sha256-none is not here; give the file again',
  )
  expect(observation.readings?.map(({ readout }) => readout)).toEqual(['jacobian'])
})
