// Tests what steering vectors are made of, what adding them does, and which files of them are
// refused.
import { expect, test } from 'vitest'
import { writeSafetensors } from '../../../formats/safetensors_write.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { captureStates } from '../../../model/internals/capture.ts'
import { steeringFile } from '../../../model/interventions/steering.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { initialWeights, paramLayout } from '../../../model/layout/params.ts'
import { modelHash } from '../../../model/lenses/lens_file.ts'
import { createModel, uploadModel } from '../../../model/transformer/model.ts'
import { createWorkspace } from '../../../model/transformer/workspace.ts'
import { CONFIG, RL } from '../../testing.ts'
import type { SteeringSource, SteeringWork } from './steering.ts'
import { type OpenTouch, type Touchable, touchModels } from './touch.ts'

const config = { ...CONFIG, phases: [RL] }
const layout = paramLayout(modelShape(config.model))
const { num_hidden_layers: L, hidden_size: C } = layout.shape
const model: Touchable = { step: 7, config, weights: initialWeights(layout, 3) }
const TEXTS = { from: 'texts', toward: '1+2', away: '98' } as const

async function steer(
  source: SteeringSource,
  given: Partial<SteeringWork> = {},
  open: OpenTouch = () => Gpu.open(),
  of = model,
) {
  const done: number[] = []
  const work = { what: 'steering', source, problems: 6, seed: 1, strengths: [8, -8] } as const
  const touched = await touchModels(open, { ...work, ...given }, [of], (at, all) =>
    done.push(at / all),
  )
  if (touched.what !== 'steering') throw new Error('expected steering')
  return { ...touched.steering, done }
}

/** Mean state of a text, by layer. */
async function meanStates(text: string): Promise<number[][]> {
  const ids = config.task.tokenizer.encode(text)
  const size = { rows: 1, width: ids.length, response_length: 0, trains: false }
  const gpu = await Gpu.open()
  const own = createModel(gpu, layout)
  uploadModel(gpu, own, model.weights)
  const places = Array.from(
    { length: L + 1 },
    (_, layer) => ({ where: 'residual', layer }) as const,
  )
  const rows = {
    input_ids: Uint32Array.from(ids),
    attention_mask: new Uint32Array(ids.length).fill(1),
    position_ids: Uint32Array.from(ids, (_, i) => i),
    response_ids: new Uint32Array(),
    response_mask: new Float32Array(),
  }
  const ws = createWorkspace(gpu, layout.shape, size)
  const states = await captureStates(gpu, own, ws, rows, places)
  gpu.destroy()
  return states.map((x) =>
    Array.from(
      { length: C },
      (_, c) => ids.reduce((sum, _id, i) => sum + x[i * C + c], 0) / ids.length,
    ),
  )
}

test('vectors of two texts are differences of their mean states, and act from their layer on', async () => {
  const found = await steer(TEXTS)
  const [toward, away] = [await meanStates(TEXTS.toward), await meanStates(TEXTS.away)]
  for (let l = 0; l <= L; l++)
    for (let c = 0; c < C; c++)
      expect(found.vectors[l][c]).toBeCloseTo(toward[l][c] - away[l][c], 5)
  expect(found.model_hash).toBe(modelHash(model.weights))
  expect(found.effects.map(({ layer, strength }) => [layer, strength])).toEqual(
    Array.from({ length: L + 1 }, (_, layer) => [
      [layer, -8],
      [layer, 8],
    ]).flat(),
  )
  expect(found.done).toHaveLength(2 * (L + 1))
  expect(found.done.at(-1)).toBe(1)
  for (const { layer, entropies, examples } of found.effects) {
    if (layer === 'all') throw new Error('expected a vector by itself')
    expect(examples).toHaveLength(4)
    for (let l = 0; l < layer; l++) expect(entropies[l]).toEqual({ mean: 0, interval: 0 })
    expect(Math.abs(entropies[layer].mean)).toBeGreaterThan(0)
  }
  // A file of them is the same vectors.
  const bytes = steeringFile(found)
  const again = await steer({ from: 'file', name: 'v.safetensors', bytes })
  expect({ ...again, done: found.done }).toEqual(found)
})

test('what cannot steer is refused before a device is asked for', async () => {
  const none = () => Promise.reject(new Error('asked for a device'))
  const file = (bytes: Uint8Array): SteeringSource => ({ from: 'file', name: 'v', bytes })
  const vectors = Array.from({ length: L + 1 }, () => new Float32Array(C).fill(1))
  const sound = { model_hash: modelHash(model.weights), made: 'by hand', vectors }
  const refused = async (source: SteeringSource, why: string | RegExp, of = model) =>
    expect(steer(source, {}, none, of)).rejects.toThrow(why)
  await refused(file(steeringFile(sound)), 'the vectors belong to the model sha256-', {
    ...model,
    weights: initialWeights(layout, 4),
  })
  const broken = vectors.map((x, l) => (l === 2 ? x.with(5, Number.NaN) : x))
  await refused(
    file(steeringFile({ ...sound, vectors: broken })),
    'v: tensor steering.2, element 5: expected a finite number, found NaN',
  )
  await refused(
    file(steeringFile({ ...sound, vectors: vectors.slice(1) })),
    `tensor steering.${L}: expected ${C} numbers in F32, found none: the vectors belong to a model of another shape`,
  )
  await refused(
    file(steeringFile({ ...sound, vectors: [...vectors, new Float32Array(C)] })),
    'expected 4 layers, found 5',
  )
  await refused(file(writeSafetensors([])), 'expected steering vectors')
  await refused({ ...TEXTS, away: TEXTS.toward }, 'Expected two different texts')
  await refused({ ...TEXTS, away: '' }, 'expected a text of 1 to')
  await expect(steer(TEXTS, { strengths: [0] }, none)).rejects.toThrow('not 0, got 0')
  await expect(steer(TEXTS, { layers: ['all', 1, L + 1] }, none)).rejects.toThrow(
    `Expected layers of the model, from 0 (the embedding) to ${L}, got ${L + 1}.`,
  )
  await refused({ from: 'run' }, 'This run trains no steering vectors')
})

test('states of a run that trains vectors are not exchanged: they have the same weights', async () => {
  const none = () => Promise.reject(new Error('asked for a device'))
  const steered = { ...config.model, steering_vectors: { layers: null } }
  const own = { ...model, config: { ...config, model: steered } }
  for (const pair of [
    [own, model],
    [model, own],
  ])
    await expect(
      touchModels(none, { what: 'exchange', problems: 4 }, pair, () => {}),
    ).rejects.toThrow('A run that trains steering vectors has the weights that it began with')
})

test('a state that solves nothing has no solved problems to steer toward', async () => {
  await expect(steer({ from: 'answers' }, { problems: 8 })).rejects.toThrow(
    'Vectors need at least 3 solved and 3 failed problems, and of 4 this state solves',
  )
})
