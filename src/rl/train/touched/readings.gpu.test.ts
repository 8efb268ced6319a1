// Lenses that are fitted on what a model writes, before it has learned anything.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { LENS_SETTINGS } from '../../config/lens_settings.ts'
import { CONFIG, RL } from '../../testing.ts'
import { touchModels } from './touch.ts'

const config = { ...CONFIG, phases: [RL] }
const layout = paramLayout(modelShape(config.model))
const model = { step: 3, config, weights: initialWeights(layout, 3) }
const settings = { ...LENS_SETTINGS, texts: 70, held_out: 5, steps: 30 }

async function read(changed: Partial<typeof settings> = {}, onProgress = (_: number) => {}) {
  const work = { what: 'readings', settings: { ...settings, ...changed } } as const
  const open = () => Gpu.open()
  const touched = await touchModels(open, work, [model], (done, of) => onProgress(done / of))
  if (touched.what !== 'readings') throw new Error('expected readings')
  return touched.readings
}

test('a fit brings every layer nearer to the final policy on held-out texts, with the same bits again', async () => {
  const done: number[] = []
  const found = await read({}, (share) => done.push(share))
  expect(done.at(-1)).toBe(1)
  const { num_hidden_layers: L } = layout.shape
  const of = (layer: number, readout: string) =>
    found.layers.find((one) => one.layer === layer && one.readout === readout)
  for (let l = 0; l < L; l++) {
    const [normed, tuned] = [of(l, 'normed'), of(l, 'tuned')]
    expect(tuned?.kl).toBeLessThan(0.9 * (normed?.kl ?? 0))
    expect(of(l, 'jacobian')?.kl).not.toBe(normed?.kl)
  }
  expect(found.layers).toHaveLength(4 * L + 1)
  expect(found.texts).toHaveLength(4)
  for (const { tokens, said } of found.texts) {
    expect(said).toHaveLength(4 * L + 1)
    for (const { top, probs } of said) {
      expect(top).toHaveLength(tokens.length)
      expect(Math.min(...probs)).toBeGreaterThan(0)
    }
  }
  expect(Math.abs(of(L, 'normed')?.kl ?? 1)).toBeLessThan(1e-6)
  expect(await read()).toEqual(found)
})

test('texts that are too short for a Jacobian say so', async () => {
  await expect(read({ skip_first: 200 })).rejects.toThrow(
    'Jacobian lens: expected texts of more than 201 tokens, found none',
  )
})
