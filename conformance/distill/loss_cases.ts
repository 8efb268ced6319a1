// Runs golden cases of distillation: TRL's, verl's, slime's and tinker-cookbook's signals of a
// teacher.
import type { Logits } from '../../src/rl/teachers/distribution.ref.ts'
import { forwardKlTopkLoss } from '../../src/rl/teachers/forward_kl_topk.ref.ts'
import { iwOpdLoss } from '../../src/rl/teachers/iw_opd.ref.ts'
import { JSD_REDUCTIONS, jsdLoss, reductionWeights } from '../../src/rl/teachers/jsd.ref.ts'
import { jsdTopkLoss } from '../../src/rl/teachers/jsd_topk.ref.ts'
import { minillmAdvantages } from '../../src/rl/teachers/minillm.ref.ts'
import { opdAdvantages } from '../../src/rl/teachers/opd_advantage.ref.ts'
import {
  type DistilledBatch,
  joinedWithTask,
  SAMPLED_KLS,
  sampledKlLoss,
  taskLoss,
} from '../../src/rl/teachers/sampled_kl.ref.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import type { Handler } from '../base/fixture.ts'
import { readAggregation } from '../base/objective_run.ts'
import { within } from '../base/tolerances.ts'

const F64 = { rtol: 1e-9, atol: 1e-11 } as const
/** Systems that compute in float32, and metrics. */
const F32 = { rtol: 1e-6, atol: 1e-6 } as const
/** verl's top-k KL is float32 throughout. */
const TOPK = { rtol: 2e-5, atol: 2e-5 } as const

interface TokenLogits extends Logits {
  readonly rows: number
  readonly columns: number
}

/** [rows, columns, V] */
function logitsOf(inputs: Fields, name: string): TokenLogits {
  const { shape, data } = inputs.tensor(name, [undefined, undefined, undefined])
  const [rows, columns, vocabulary] = shape
  return { rows, columns, vocabulary, data }
}

/** Student and teacher over the same tokens and vocabulary. */
function bothLogits(inputs: Fields): { student: TokenLogits; teacher: TokenLogits } {
  const [student, teacher] = [
    logitsOf(inputs, 'student_logits'),
    logitsOf(inputs, 'teacher_logits'),
  ]
  const names = ['rows', 'columns', 'vocabulary'] as const
  if (names.some((name) => student[name] !== teacher[name]))
    throw new CaseError('inputs.teacher_logits: expected the shape of student_logits')
  return { student, teacher }
}

const jsd: Handler = ({ inputs, config }) => {
  const { student, teacher } = bothLogits(inputs)
  const mask = inputs.optionalMatrix('mask', student)?.data
  const settings = { beta: config.number('beta'), temperature: config.number('temperature', 1) }
  const weights = reductionWeights(mask, student, {
    reduction: config.choice('reduction', JSD_REDUCTIONS, 'batchmean'),
    num_items_in_batch: config.optionalNumber('num_items_in_batch'),
  })
  const run = () => {
    const { loss, d_logits } = jsdLoss(student, teacher, weights, settings)
    return within(F64, { loss, grad_student_logits: d_logits })
  }
  return [{ on: 'reference', run }]
}

const jsd_topk: Handler = ({ inputs, config }) => {
  const { student, teacher } = bothLogits(inputs)
  const mask = inputs.optionalMatrix('mask', student)?.data
  const settings = {
    beta: config.number('beta'),
    temperature: config.number('temperature', 1),
    top_k: config.number('top_k'),
    add_tail: config.flag('add_tail'),
  }
  const weights = reductionWeights(mask, student, {
    reduction: config.choice('reduction', JSD_REDUCTIONS, 'batchmean'),
    num_items_in_batch: config.optionalNumber('num_items_in_batch'),
  })
  const run = () => {
    const { loss, d_logits } = jsdTopkLoss(student, teacher, weights, settings)
    return within(F64, { loss, grad_student_logits: d_logits })
  }
  return [{ on: 'reference', run }]
}

const iw_opd: Handler = ({ inputs, config }) => {
  const student = logitsOf(inputs, 'student_logits')
  const matrix = (name: string) => inputs.matrix(name, student).data
  const batch = {
    columns: student.columns,
    tokens: matrix('tokens'),
    mask: matrix('mask'),
    teacher_logps: matrix('teacher_logps'),
    rollout_logps: inputs.optionalMatrix('rollout_logps', student)?.data,
  }
  const settings = {
    gamma: config.number('gamma'),
    epsilon: config.number('epsilon'),
    temperature: config.number('temperature', 1),
    num_items_in_batch: config.optionalNumber('num_items_in_batch'),
  }
  const run = () => {
    const { loss, d_logits, metrics } = iwOpdLoss(student, batch, settings)
    return { ...within(F64, { loss, grad_student_logits: d_logits }), ...within(F32, { metrics }) }
  }
  return [{ on: 'reference', run }]
}

const minillm: Handler = ({ inputs, config }) => {
  const { student, teacher } = bothLogits(inputs)
  const matrix = (name: string) => inputs.matrix(name, student).data
  const [own, ofTeacher, mask] = [matrix('student_logps'), matrix('teacher_logps'), matrix('mask')]
  const settings = {
    gamma: config.number('gamma'),
    length_normalization: config.flag('length_normalization'),
  }
  const weights = reductionWeights(mask, student, {
    reduction: 'batchmean',
    num_items_in_batch: undefined,
  })
  const run = () => {
    const { loss, d_logits } = jsdLoss(student, teacher, weights, { beta: 1, temperature: 1 })
    return within(F32, {
      advantages: minillmAdvantages(own, ofTeacher, mask, student.columns, settings),
      single_step_loss: loss,
      grad_student_logits: d_logits,
    })
  }
  return [{ on: 'reference', run }]
}

const opd_advantage: Handler = ({ inputs, config }) => {
  config.choice('system', ['slime', 'tinker-cookbook'])
  const rows = (name: string) => inputs.ragged(name)
  const batch = {
    student_logps: rows('student_logps'),
    teacher_logps: rows('teacher_logps'),
    advantages: rows('advantages'),
    mask: inputs.has('mask') ? rows('mask') : undefined,
  }
  const settings = { kl_coef: config.number('kl_coef'), discount: config.number('discount', 0) }
  const run = () => within(F32, { ...opdAdvantages(batch, settings) })
  return [{ on: 'driver', run }]
}

const distilledBatch = (inputs: Fields): DistilledBatch => {
  const mask = inputs.matrix('response_mask')
  const matrix = (name: string) => inputs.matrix(name, mask).data
  return {
    response_length: mask.columns,
    response_mask: mask.data,
    log_probs: matrix('log_prob'),
    old_log_probs: matrix('old_log_prob'),
    advantages: matrix('advantages'),
  }
}

/** verl's settings that both of its kinds of loss share. */
function verlSettings(config: Fields, source: string) {
  const aggregation = readAggregation(config, { source })
  const clip = config.number('clip_ratio', 0.2)
  return {
    aggregation,
    task: {
      ...aggregation,
      clip_ratio_low: config.number('clip_ratio_low', clip),
      clip_ratio_high: config.number('clip_ratio_high', clip),
      clip_ratio_c: config.number('clip_ratio_c', 3),
    },
    use_task_rewards: config.flag('use_task_rewards'),
    distillation_loss_coef: config.number('distillation_loss_coef', 1),
    loss_max_clamp: config.optionalNumber('loss_max_clamp'),
  }
}

const verl_estimators: Handler = ({ inputs, config, source }) => {
  const batch = distilledBatch(inputs)
  const like = {
    rows: batch.response_mask.length / batch.response_length,
    columns: batch.response_length,
  }
  const teacher_log_probs = inputs.matrix('teacher_log_prob', like).data
  const lossMode = config.choice('loss_mode', SAMPLED_KLS)
  const settings = {
    ...verlSettings(config, source),
    use_policy_gradient: config.flag('use_policy_gradient'),
  }
  const run = () => {
    const found = sampledKlLoss(lossMode, { ...batch, teacher_log_probs }, settings)
    return {
      ...within(F64, { loss: found.loss, grad_log_prob: found.d_log_probs }),
      ...within(F32, { metrics: found.metrics }),
    }
  }
  return [{ on: 'reference', run }]
}

const verl_forward_kl_topk: Handler = ({ inputs, config, source, expected }) => {
  const student = logitsOf(inputs, 'student_logits')
  const batch = distilledBatch(inputs)
  const topk = config.number('topk')
  const ofTeacher = (name: string) =>
    inputs.tensor(name, [student.rows, student.columns, topk]).data
  const teacher = {
    topk,
    log_probs: ofTeacher('teacher_topk_logps'),
    ids: ofTeacher('teacher_topk_ids'),
  }
  const settings = {
    ...verlSettings(config, source),
    log_prob_min_clamp: config.optionalNumber('log_prob_min_clamp'),
  }
  const mask = { data: batch.response_mask, columns: batch.response_length }
  const run = () => {
    const found = forwardKlTopkLoss(student, teacher, mask, settings)
    const { use_task_rewards, distillation_loss_coef: coef } = settings
    const ofTask = taskLoss(settings.task, batch)
    const d_log_probs = new Float64Array(mask.data.length)
    const total = joinedWithTask({ ...found, d_log_probs }, ofTask, settings)
    const share = use_task_rewards ? coef : 1
    return within(TOPK, {
      loss: total.loss,
      grad_student_logits: found.d_logits.map((d) => d * share),
      ...(expected.has('grad_log_prob') && use_task_rewards
        ? { grad_log_prob: total.d_log_probs }
        : {}),
      token_losses: found.token_losses,
      student_mass: found.student_mass,
      teacher_mass: found.teacher_mass,
      overlap_count: found.overlap_count,
      metrics: { ...(use_task_rewards ? ofTask.metrics : {}), ...found.metrics },
    })
  }
  return [{ on: 'reference', run }]
}

export const DISTILL_CASES: Readonly<Record<string, Handler>> = {
  iw_opd,
  jsd,
  jsd_topk,
  minillm,
  opd_advantage,
  verl_estimators,
  verl_forward_kl_topk,
}
