// Lenses that are fitted on what a model writes, before it has learned anything.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { LENS_SETTINGS } from '../../config/lens_settings.ts'
import { CONFIG, RL } from '../../testing.ts'
import { type TouchWork, touchModels } from './touch.ts'

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

// The goldens of interventions hold a fit to float64.
test.skipIf(!process.env.LONG_TESTS)(
  'a fit brings every layer nearer to the final policy on held-out texts, with the same bits again',
  async () => {
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
    if (process.env.LONG_TESTS) expect(await read()).toEqual(found)
  },
)

test('lenses of files are read as those that were fitted, other states through the same', async () => {
  const touched = async (more: Partial<TouchWork>, weights = [model.weights]) => {
    const work = { what: 'readings', settings: { ...settings, texts: 4 }, ...more } as TouchWork
    const models = weights.map((own, i) => ({ ...model, step: model.step - i, weights: own }))
    const found = await touchModels(
      () => Gpu.open(),
      work,
      models,
      () => {},
    )
    if (found.what !== 'readings') throw new Error('expected readings')
    return found
  }
  const { files, readings: fitted } = await touched({})
  const other = initialWeights(layout, 4)
  const { readings: read } = await touched({ lenses: files }, [model.weights, other])
  expect(read.layers).toEqual(fitted.layers)
  expect(read.files).toEqual({ tuned: 'tuned.safetensors', jacobian: 'jacobian.safetensors' })
  expect(fitted.files).toEqual({})
  expect(read.states.map(({ step }) => step)).toEqual([model.step - 1, model.step])
  expect(read.states[1].layers).toEqual(read.layers)
  const kl = (layers: typeof read.layers) => layers.map((one) => one.kl)
  expect(kl(read.states[0].layers)).not.toEqual(kl(read.layers))
  expect(read.states[0].layers).toHaveLength(read.layers.length)
  // A file belongs to the state that it was fitted on.
  await expect(touched({ lenses: files }, [other])).rejects.toThrow('expected a lens of this model')
  await expect(touched({ lenses: [files[0], files[0]] })).rejects.toThrow('one lens of each kind')
})

test('texts that are too short for a Jacobian say so', async () => {
  await expect(read({ skip_first: 200, texts: 4, steps: 1 })).rejects.toThrow(
    'Jacobian lens: expected texts of more than 201 tokens, found none',
  )
})
