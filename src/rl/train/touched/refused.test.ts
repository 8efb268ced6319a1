// What cannot be done is refused before a device is asked for: other shapes, texts of other
// lengths, files of other models or with numbers that are none, and maps that are too large.
import { expect, test } from 'vitest'
import { memorySize } from '../../../kernels/device/base/errors.ts'
import { steeringFile } from '../../../model/interventions/steering.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { jacobianLens, type Lens, lensSize } from '../../../model/layout/translators.ts'
import { modelHash, writeLens } from '../../../model/lenses/lens_file.ts'
import { testWeights } from '../../../model/testing.ts'
import { LENS_SETTINGS } from '../../config/lens_settings.ts'
import { CONFIG } from '../../testing.ts'
import { type TouchWork, touchModels } from './touch.ts'

const shape = modelShape(CONFIG.model)
const { num_hidden_layers: L, num_attention_heads: H, hidden_size: C } = shape
const { flat: weights } = testWeights(CONFIG.model, 5)
const hash = modelHash(weights)
const state = { step: 3, config: CONFIG, weights }

/** A state of a model that differs in this. */
function other(fields: Partial<typeof CONFIG.model>) {
  const model = { ...CONFIG.model, ...fields }
  return { step: 4, config: { ...CONFIG, model }, weights: testWeights(model, 6).flat }
}

const tuned: Lens = { readout: 'tuned', hidden_size: C, values: new Float32Array(lensSize(shape)) }
const broken = { ...tuned, values: tuned.values.with(7, Number.NaN) }
const identity = Float32Array.from({ length: C * C }, (_, i) => Number(i % (C + 1) === 0))
const jacobianOf = (matrix: Float32Array) => jacobianLens(C, new Array(L).fill(matrix))
const read = (lens: Lens, of = hash): TouchWork => ({
  what: 'readings',
  settings: LENS_SETTINGS,
  lenses: [{ name: 'my.safetensors', bytes: writeLens(lens, { shape, hash: of }) }],
})
const vectors = Array.from({ length: L + 1 }, () => new Float32Array(C).fill(1))
const steer = (model_hash: string, of = vectors): TouchWork => ({
  what: 'steering',
  source: {
    from: 'file',
    name: 'my.safetensors',
    bytes: steeringFile({ vectors: of, model_hash, made: 'by hand' }),
  },
  problems: 4,
  seed: 1,
  strengths: [1],
})
const long = '1'.repeat(Math.ceil(Math.sqrt(64e6 / (4 * L * H))))

test.for<readonly [string, TouchWork, (typeof state)[], string]>([
  [
    'parts of a model of another shape',
    { what: 'exchange', problems: 4 },
    [state, other({ intermediate_size: 2 * CONFIG.model.intermediate_size })],
    'mlp.gate_proj.weight: expected',
  ],
  [
    'parts of a model that computes otherwise',
    { what: 'exchange', problems: 4 },
    [state, other({ rope_theta: 77 })],
    'rope_theta: expected',
  ],
  ['texts of two lengths', { what: 'patching', texts: ['1=', '12='] }, [state], 'got 2 in "1="'],
  [
    'no texts',
    { what: 'patching', texts: ['', ''] },
    [state],
    'two texts of as many tokens, got 0',
  ],
  [
    'a layer beyond the last',
    { what: 'parts', problems: 4, layers: [L + 1] },
    [state],
    `from 1 to ${L}`,
  ],
  ['a tuned lens of another model', read(tuned, 'sha256-0'), [state], 'a lens of this model'],
  ['a tuned lens with NaN', read(broken), [state], 'expected a finite number, found NaN'],
  [
    'a Jacobian of another model',
    read(jacobianOf(identity), 'sha256-0'),
    [state],
    'a lens of this model',
  ],
  [
    'a Jacobian with NaN',
    read(jacobianOf(identity.with(3, Number.NaN))),
    [state],
    'expected a finite number, found NaN',
  ],
  ['vectors of another model', steer('sha256-0'), [state], 'the vectors belong to the model'],
  [
    'vectors with NaN',
    steer(hash, [vectors[0].with(0, Number.NaN), ...vectors.slice(1)]),
    [state],
    'expected a finite number, found NaN',
  ],
  [
    'attention maps of a long text',
    { what: 'attribution', sample: { prompt: long, response: '1', is_ended: false } },
    [state],
    'MB; expected at most 64 MB. Take a shorter text.',
  ],
])('%s', async ([, work, models, problem]) => {
  const open = () => {
    throw new Error('a device was asked for')
  }
  await expect(touchModels(open, work, models, () => {})).rejects.toThrow(problem)
})

test('two models that main memory has no room for, before the second is read', async () => {
  let isRead = false
  const second = async () => {
    isRead = true
    return state
  }
  const open = () => Promise.reject(new Error('a device was asked for'))
  const touched = (bytes: number) =>
    touchModels(open, { what: 'exchange', problems: 4 }, [state, second], () => {}, bytes)
  const { byteLength } = weights
  await expect(touched(3 * byteLength - 1)).rejects.toThrow(
    `a mixture of them take ${memorySize(3 * byteLength)} of main memory`,
  )
  expect(isRead).toBe(false)
  await expect(touched(3 * byteLength)).rejects.toThrow('a device was asked for')
  expect(isRead).toBe(true)
})
