// Phases that learn from a teacher in the real trainer: against float64, over a restart, learning.
import { afterAll, expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import type { Distillation } from '../../config/distillation.ts'
import type { DistillPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { refTranslators } from '../../learners/inner.ref.ts'
import { mean } from '../../math/stats.ts'
import { CONFIG, OPTIM, RL, SFT } from '../../testing.ts'
import { Learner } from '../learner.ref.ts'
import { numbers } from '../moved/testing.ts'
import { planMemory } from '../parts/memory.ts'
import { Judge } from '../responses/judge.ts'
import { TrainingData } from '../responses/training_data.ts'
import { Trainer } from '../trainer.ts'
import { alongPhase, distillPhase, float64Step, LARGER, larger, toldBatch } from './testing.ts'

/** The runs share a device, which has then compiled most of what the next one needs. */
const shared = Gpu.open()
afterAll(async () => (await shared).destroy())
const create = async (config: TrainerConfig) => Trainer.create(await shared, config)
/** Of runs that learn what others here learn too. */
const longTest = test.skipIf(!process.env.LONG_TESTS)

const CASES: readonly (readonly [string, Partial<Distillation>, Partial<DistillPhase>])[] = [
  ['the final layer teaches two layers', { beta: 0.3, temperature: 0.8 }, { layers: [1] }],
  [
    'the final layer, read through the norm',
    { beta: 1 },
    { target_readout: 'normed', layers: [1] },
  ],
  [
    'the final layer, read through tuned lenses',
    { beta: 0.5 },
    { target_readout: 'tuned', layers: [1] },
  ],
  [
    'the policy of the beginning, read through Jacobian lenses',
    { teacher: 'reference' },
    { target_readout: 'jacobian', layers: [1] },
  ],
  ['the policy of the beginning teaches a layer', { teacher: 'reference', beta: 0 }, {}],
  ['a moving average teaches a layer', { teacher: 'ema' }, {}],
  [
    'the policy of the beginning holds back what answers move',
    { teacher: 'reference', temperature: 0.8, crossentropy_weight: 0.7 },
    { target_layer: 3, layers: [1] },
  ],
  [
    'so does a moving average',
    { teacher: 'ema', beta: 0, crossentropy_weight: 1.5 },
    { target_layer: 3 },
  ],
  [
    'a larger model writes, and teaches what it wrote',
    { teacher: 'model', seq_kd: true, temperature: 0.9, crossentropy_weight: 0.5 },
    { target_layer: 3 },
  ],
  ['a larger model teaches the whole one', { teacher: 'model', beta: 1 }, { target_layer: 3 }],
]

/** A trainer that has a larger model as its teacher. */
async function createTaught(config: TrainerConfig): Promise<Trainer> {
  const trainer = await create({ ...config, teacher: LARGER })
  trainer.importTeacher(larger)
  return trainer
}

/** The responses that the larger model samples in a step, as the policy of a run of its own. */
async function whatTeacherWrites(phase: DistillPhase, step: number) {
  const { temperature } = phase.distillation
  const own = distillPhase({ lmbda: 1, temperature }, { steps: phase.steps })
  const writer = await create({ ...CONFIG, model: LARGER, phases: [SFT, own] })
  while (writer.step < SFT.steps + step - 1) await writer.next()
  writer.importWeights(larger)
  const { samples } = await writer.next()
  return samples
}

test.for(CASES)('%s: every step follows float64', async ([, settings, change]) => {
  const phase = distillPhase(settings, change)
  const isOther = phase.distillation.teacher === 'model'
  const trainer = await (isOther ? createTaught : create)({ ...CONFIG, phases: [SFT, phase] })
  const other = isOther ? new Learner(LARGER, 'lm_head', larger) : undefined
  while (trainer.step < SFT.steps) await trainer.next()
  const start = await trainer.exportWeights()
  const learner = new Learner(CONFIG.model, 'lm_head', start)
  const average = Float64Array.from(start)
  const data = new TrainingData(CONFIG.seed, CONFIG.task)
  data.sample_index = SFT.steps * SFT.batch_size
  const judge = new Judge(CONFIG, CONFIG.task.max_response_length)
  for (let step = 1; step <= phase.steps; step++) {
    const { metrics } = await trainer.next()
    const samples = data.takeBatch(phase.batch_size)
    const written = phase.distillation.seq_kd ? await whatTeacherWrites(phase, step) : undefined
    const demonstrations = samples.map(({ demonstration }) => demonstration)
    const batch = written ? toldBatch(samples, written) : judge.batchOf(samples, demonstrations)
    const scores = written?.map(({ score }) => score)
    expect(metrics['distillation/teacher_score']).toEqual(scores && mean(scores))
    const { lens } = await trainer.exportState()
    const truth = float64Step(learner, phase, batch, {
      average: learner.named(average),
      other,
      translators: refTranslators(CONFIG.model.hidden_size, lens),
    })
    if (phase.distillation.teacher === 'ema') {
      const { ema_decay } = phase.distillation
      for (const [i, x] of learner.state.weights.entries())
        average[i] = ema_decay * average[i] + (1 - ema_decay) * x
    }
    expect(metrics['distillation/loss']).toBeCloseTo(truth.loss, 5)
    if (truth.crossentropy !== undefined)
      expect(metrics['distillation/crossentropy']).toBeCloseTo(truth.crossentropy, 4)
    expect('distillation/crossentropy' in metrics).toBe(truth.crossentropy !== undefined)
    expect(metrics['actor/grad_norm'] / truth.grad_norm).toBeCloseTo(1, 3)
    expect(metrics['distillation/on_policy']).toBe(0)
  }
  const end = await trainer.exportWeights()
  expect(start.some((x, i) => x !== end[i])).toBe(true)
  const layout = paramLayout(modelShape(CONFIG.model))
  for (const { name, offset, size } of layout.params) {
    const cut = (x: ArrayLike<number>) => Array.from(x).slice(offset, offset + size)
    const error = cut(learner.state.weights).map((x, i) => Math.abs(x - end[offset + i]))
    expect(Math.max(...error), name).toBeLessThan(2e-4)
    // What lies above an inner layer keeps its bits.
    if (phase.target_layer === 2 && /layers\.2\./.test(name)) expect(cut(end)).toEqual(cut(start))
  }
})

test.for([
  ['ema', 0.5],
  ['final', 1],
  ['model', 1],
  ['model', 0.5],
] as const)(
  'a run taught by %s that continues in another trainer has the same bits',
  async ([teacher, lmbda]) => {
    // Where half of the steps are on its own samples, the teacher writes the others.
    const isMixed = teacher === 'model' && lmbda < 1
    const imitation = isMixed && { seq_kd: true, crossentropy_weight: 0.5 }
    const change = isMixed ? { target_layer: 3 } : {}
    const settings = { teacher, lmbda, ...imitation }
    const phase = distillPhase(settings, { steps: 4, layers: [1], ...change })
    const config = {
      ...CONFIG,
      phases: [SFT, phase],
      ...(teacher === 'model' && { teacher: LARGER }),
    }
    const begin = teacher === 'model' ? createTaught : create
    const whole = await begin(config)
    const results: ReturnType<typeof numbers>[] = []
    while (!whole.isFinished) results.push(numbers(await whole.next()))
    const weights = await whole.exportWeights()
    const begun = await begin(config)
    for (let i = 0; i < SFT.steps + 3; i++) await begun.next()
    const state = await begun.exportState()
    // The teacher is a part of the state.
    const other = await create(config)
    other.importState(state)
    const rest = []
    while (!other.isFinished) rest.push(numbers(await other.next()))
    expect(rest).toEqual(results.slice(-2))
    expect(await other.exportWeights()).toEqual(weights)
    const taught = results.slice(-4)
    const shares = taught.map(({ metrics }) => metrics['distillation/on_policy'])
    expect(taught.map(({ samples }) => samples.length)).toEqual(shares.map((share) => 8 * share))
    expect(new Set(shares)).toEqual(new Set(lmbda === 1 ? [1] : [0, 1]))
  },
)

test('a run whose advantages a teacher changes continues in another trainer with the same bits', async () => {
  const algorithm = { ...RL.algorithm, opd_kl_coef: 0.5 }
  const config = { ...CONFIG, phases: [{ ...RL, algorithm }], teacher: LARGER }
  const whole = await createTaught(config)
  while (whole.step < 1) await whole.next()
  const state = await whole.exportState()
  const rest = [numbers(await whole.next()), numbers(await whole.next())]
  const other = await create(config)
  other.importState(state)
  expect([numbers(await other.next()), numbers(await other.next())]).toEqual(rest)
  expect(await other.exportWeights()).toEqual(await whole.exportWeights())
  expect(rest[1].metrics['distillation/reverse_kl']).not.toBe(0)
})

longTest('the sampled reverse KL alone brings a policy closer to its teacher', async () => {
  const algorithm = { ...RL.algorithm, opd_kl_coef: 1, use_task_rewards: false }
  const actor = { ...RL.actor, ppo_mini_batch_size: 4, optim: { ...OPTIM, lr: 4e-3 } }
  const rollout = { ...RL.rollout, train_batch_size: 4, n: 8 }
  const trainer = await createTaught({
    ...CONFIG,
    phases: [{ ...RL, steps: 40, rollout, actor, algorithm }],
  })
  const found: number[] = []
  while (!trainer.isFinished) {
    const { metrics } = await trainer.next()
    if ('distillation/reverse_kl' in metrics) found.push(metrics['distillation/reverse_kl'])
  }
  expect(found).toHaveLength(40)
  const meanOf = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length
  expect(meanOf(found.slice(-5))).toBeLessThan(0.8 * meanOf(found.slice(0, 5)))
})

longTest('an inner layer learns what the final layer says', async () => {
  const trainer = await create({
    ...CONFIG,
    phases: [
      { ...SFT, steps: 20, optim: { ...OPTIM, lr: 8e-3 } },
      distillPhase({ lmbda: 1 }, { steps: 30, optim: { ...OPTIM, lr: 4e-3 } }),
    ],
    probe: { freq: 0, rows: 8 },
  })
  const losses: number[] = []
  while (!trainer.isFinished) {
    const { metrics } = await trainer.next()
    if ('distillation/loss' in metrics) losses.push(metrics['distillation/loss'])
  }
  expect(losses).toHaveLength(30)
  expect(losses[29]).toBeLessThan(0.3 * losses[0])
})

longTest('a student learns from what its teacher writes', async () => {
  const optim = { ...OPTIM, lr: 4e-3 }
  const settings = { teacher: 'model', seq_kd: true, crossentropy_weight: 1 } as const
  const phase = distillPhase(settings, { steps: 40, target_layer: 3, optim })
  const trainer = await createTaught({ ...CONFIG, phases: [SFT, phase] })
  const losses: number[] = []
  const imitated: number[] = []
  while (!trainer.isFinished) {
    const { metrics, samples } = await trainer.next()
    if (!('distillation/loss' in metrics)) continue
    expect(samples).toEqual([])
    losses.push(metrics['distillation/loss'])
    imitated.push(metrics['distillation/crossentropy'])
  }
  expect(losses).toHaveLength(40)
  for (const found of [losses, imitated])
    expect(mean(found.slice(-5))).toBeLessThan(0.95 * mean(found.slice(0, 5)))
})

longTest('what the policy was holds it back from the answers', async () => {
  const after = async (crossentropy_weight: number) => {
    const settings = { teacher: 'reference', beta: 0, crossentropy_weight } as const
    const optim = { ...OPTIM, lr: 4e-3 }
    const phase = distillPhase(settings, { steps: 40, target_layer: 3, optim })
    const trainer = await create({ ...CONFIG, phases: [{ ...SFT, steps: 1 }, phase] })
    const found: { moved: number; crossentropy: number }[] = []
    while (!trainer.isFinished) {
      const { metrics } = await trainer.next()
      if (!('distillation/loss' in metrics)) continue
      const { 'distillation/loss': moved, 'distillation/crossentropy': crossentropy } = metrics
      found.push({ moved, crossentropy })
    }
    return found
  }
  const [held, free] = [await after(0.1), await after(10)]
  const last = (run: typeof held) => run[run.length - 1]
  expect(held[0].moved).toBeCloseTo(0, 6)
  expect(last(free).crossentropy).toBeLessThan(0.5 * free[0].crossentropy)
  expect(last(held).crossentropy).toBeLessThan(held[0].crossentropy)
  expect(last(held).crossentropy).toBeGreaterThan(last(free).crossentropy)
  expect(last(held).moved).toBeGreaterThan(0)
  expect(last(held).moved).toBeLessThan(0.5 * last(free).moved)
})

test('each phase of a stage is taught by the policy that it began with', async () => {
  const first = distillPhase({ teacher: 'final' }, { steps: 2 })
  const second = distillPhase({ teacher: 'reference', beta: 0 }, { steps: 1 })
  const trainer = await create({ ...CONFIG, phases: [SFT, first, second] })
  while (trainer.step < SFT.steps + first.steps) await trainer.next()
  const start = await trainer.exportWeights()
  await trainer.next()
  expect((await trainer.exportState()).reference).toEqual(start)
})

test('memory is as planned, and once prepared nothing is created', async () => {
  const gpu = await Gpu.open()
  const before = gpu.counts.live_bytes
  const phase = distillPhase(
    { teacher: 'ema', lmbda: 0.5, seq_kd: true },
    { steps: 5, layers: [1] },
  )
  const written = distillPhase(
    { teacher: 'model', lmbda: 0.5, seq_kd: true, crossentropy_weight: 1 },
    { steps: 5, target_layer: 3 },
  )
  const along = [alongPhase('self_distill'), alongPhase('deep_supervision')]
  const config = { ...CONFIG, phases: [phase, written, ...along], teacher: LARGER }
  const trainer = await Trainer.create(gpu, config)
  trainer.importTeacher(larger)
  expect(gpu.counts.live_bytes - before).toBe(planMemory(config).total())
  await trainer.prepareLater()
  const made = { ...gpu.counts }
  while (!trainer.isFinished) await trainer.next()
  const { buffers, bind_groups, pipelines, live_bytes } = gpu.counts
  expect([buffers, bind_groups, pipelines, live_bytes]).toEqual([
    made.buffers,
    made.bind_groups,
    made.pipelines,
    made.live_bytes,
  ])
  trainer.destroy()
})
