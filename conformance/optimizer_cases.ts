// Runs golden cases of clipping by the global norm, AdamW and learning-rate schedules.
import type { Gpu } from '../src/kernels/device/gpu.ts'
import { type AdamwSettings, adamwRef } from '../src/kernels/optimizer/optimizer.ref.ts'
import {
  adamw_update,
  CONTROL,
  grad_norm_finish,
  grad_norm_partial,
  OPTIMIZER_BLOCKS,
} from '../src/kernels/optimizer/optimizer.ts'
import { constantMultiplier, cosineMultiplier, wsdMultiplier } from '../src/rl/config/schedule.ts'
import { CaseError, type Fields, type GoldenTensor } from './base/fields.ts'
import type { Handler } from './base/fixture.ts'
import { withScratch } from './base/gpu_scratch.ts'
import { F64, GPU_VALUE, within } from './base/tolerances.ts'

/** Elements per segment number, as in src/kernels/optimizer. */
const CHUNK = 64

/** Parameters of one case in a flat buffer: each starts at a chunk and is a segment of its own. */
class FlatParams {
  readonly names: readonly string[]
  readonly #starts: readonly number[]
  readonly #shapes: readonly GoldenTensor[]
  readonly chunk_segment: readonly number[]
  readonly weights: Float64Array

  constructor(params: ReadonlyMap<string, GoldenTensor>) {
    this.names = [...params.keys()]
    this.#shapes = [...params.values()]
    const chunks = this.#shapes.map(({ data }) => Math.ceil(data.length / CHUNK))
    this.chunk_segment = chunks.flatMap((n, segment) => Array.from({ length: n }, () => segment))
    this.#starts = chunks.map((_, i) => CHUNK * chunks.slice(0, i).reduce((a, b) => a + b, 0))
    this.weights = this.flatten(params)
  }

  get count(): number {
    return this.chunk_segment.length * CHUNK
  }

  flatten(values: ReadonlyMap<string, GoldenTensor>): Float64Array {
    const flat = new Float64Array(this.count)
    this.names.forEach((name, i) => {
      flat.set(values.get(name)?.data ?? [], this.#starts[i])
    })
    return flat
  }

  /** A copy by name, row-major. */
  pick(flat: ArrayLike<number>): Record<string, Float64Array> {
    const part = (i: number) => {
      const start = this.#starts[i]
      const length = this.#shapes[i].data.length
      return Float64Array.from({ length }, (_, k) => flat[start + k])
    }
    return Object.fromEntries(this.names.map((name, i) => [name, part(i)]))
  }
}

interface AdamwCase {
  readonly params: FlatParams
  /** Per step, flat. */
  readonly gradients: readonly Float64Array[]
  readonly settings: AdamwSettings
}

function readCase(inputs: Fields, config: Fields): AdamwCase {
  const names = inputs.names().filter((name) => name.startsWith('param_'))
  if (names.length === 0) throw new CaseError('inputs: expected parameters named param_*')
  const shapes = new Map(names.map((name) => [name.slice(6), inputs.tensor(name)]))
  const params = new FlatParams(shapes)
  const gradients = inputs.list('grads_per_step').map((step) => {
    const read = [...shapes].map(([name, { shape }]) => [name, step.tensor(name, shape)] as const)
    return params.flatten(new Map(read))
  })
  const [beta1, beta2] = config.vector('betas', 2)
  return {
    params,
    gradients,
    settings: {
      lr: config.number('lr'),
      beta1,
      beta2,
      eps: config.number('eps'),
      weight_decay: config.number('weight_decay'),
      max_norm: config.number('grad_clip'),
    },
  }
}

function reference({ params, gradients, settings }: AdamwCase) {
  const state = {
    weights: params.weights.slice(),
    m: new Float64Array(params.count),
    v: new Float64Array(params.count),
    steps: params.names.map(() => 0),
  }
  const { count, chunk_segment } = params
  const layout = { count, chunk_segment, active_segments: params.names.length }
  const steps = gradients.map((step) => {
    const { grad_norm } = adamwRef(state, step, settings, layout)
    return { grad_norm, weights: params.pick(state.weights) }
  })
  return outputs(steps, F64)
}

const outputs = (
  steps: readonly { grad_norm: number; weights: Record<string, Float64Array> }[],
  tolerance: { rtol: number; atol: number },
) =>
  within(tolerance, {
    grad_norm_before_clip: steps.map(({ grad_norm }) => grad_norm),
    params_after_step: steps.map(({ weights }) => weights),
  })

const onGpu = (gpu: Gpu, { params, gradients, settings }: AdamwCase) =>
  withScratch(gpu, async (scratch) => {
    const { count } = params
    const segments = params.names.length
    const tensors = {
      gradients: scratch.zeros('gradients', [count]),
      weights: scratch.f32('weights', [count], params.weights),
      m: scratch.zeros('m', [count]),
      v: scratch.zeros('v', [count]),
      partials: scratch.output('partials', [OPTIMIZER_BLOCKS]),
      control: scratch.zeros('control', [CONTROL.length]),
      corrections: scratch.zeros('corrections', [segments, 2]),
      chunk_segment: scratch.u32('chunk_segment', [count / CHUNK], params.chunk_segment),
    }
    const { lr, beta1, beta2, eps, weight_decay, max_norm } = settings
    const oneMinus = { one_minus_beta1: 1 - beta1, one_minus_beta2: 1 - beta2 }
    const finish = { max_norm, segments, active_segments: segments, ...oneMinus }
    const decay = { weight_decay, vector_weight_decay: weight_decay }
    const update = { count, lr, beta1, beta2, ...oneMinus, eps, ...decay }
    const steps = []
    for (const step of gradients) {
      gpu.write(tensors.gradients, Float32Array.from(step))
      await gpu.run(grad_norm_partial, { count, first: 0, accumulate: 0 }, tensors)
      await gpu.run(grad_norm_finish, finish, tensors)
      await gpu.run(adamw_update, update, tensors)
      const [control, weights] = await gpu.read(tensors.control, tensors.weights)
      const grad_norm = control[CONTROL.indexOf('grad_norm')]
      steps.push({ grad_norm, weights: params.pick(weights) })
    }
    return outputs(steps, GPU_VALUE)
  })

const adamw_clip: Handler = ({ inputs, config }) => {
  const given = readCase(inputs, config)
  return [
    { on: 'reference', run: () => reference(given) },
    { on: 'gpu', run: (gpu) => onGpu(gpu, given) },
  ]
}

const lr_schedule: Handler = ({ config, expected }) => {
  const given = (name: string, as = name) => (config.has(name) ? { [as]: config.number(name) } : {})
  const schedule = {
    num_warmup_steps: config.number('num_warmup_steps'),
    num_training_steps: config.number('num_training_steps'),
    ...given('min_lr_ratio'),
    ...given('num_cycles'),
  }
  const first = given('init_lr_ratio')
  const stable = given('wsd_stable_ratio', 'stable_ratio')
  // How many steps to show is said nowhere else.
  const multipliers = (name: string, at: (step: number) => number) =>
    Float64Array.from({ length: expected.vector(name).length }, (_, step) => at(step))
  // Of versions that can begin the schedule at its second step: that step's place is counted from
  // 1.
  const cosine = (step: number) => cosineMultiplier(step, { ...schedule, ...first })
  if (expected.has('zero_indexed')) {
    const run = () =>
      within(F64, {
        zero_indexed: multipliers('zero_indexed', cosine),
        one_indexed: multipliers('one_indexed', (step) => cosine(step + 1)),
      })
    return [{ on: 'driver', run }]
  }
  const run = () =>
    within(F64, {
      constant: multipliers('constant', (step) => constantMultiplier(step, schedule)),
      cosine: multipliers('cosine', cosine),
      wsd: multipliers('wsd', (step) => wsdMultiplier(step, { ...schedule, ...stable })),
    })
  return [{ on: 'driver', run }]
}

export const OPTIMIZER_CASES: Readonly<Record<string, Handler>> = { adamw_clip, lr_schedule }
