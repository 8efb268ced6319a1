// Finds contradictions in a checkpoint: counts that no run of its experiment reaches, and numbers
// that no optimizer leaves.

import { MAX_STEPS } from '../../../document/experiment/fields/phase_fields.ts'
import { isPairedDocument } from '../../../document/experiment/fields/phases.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { CONTROL } from '../../../kernels/optimizer/control.ts'
import type { ModelState, ModelStates } from '../../../rl/train/state.ts'
import type { CheckpointHeader } from './checkpoint_header.ts'

/** Where something contradicts the rest, and what was expected there; undefined where nothing
 * does. */
export type Broken = readonly [at: string, message: string] | undefined

/** Problems that a run may draw; each takes a call on the CPU, so none comes near it. */
const MAX_SAMPLES = 2 ** 40
/** Updates of one training step, at most: more than any batch, epochs and mini-batches give. */
const MAX_UPDATES = 2 ** 20

const atMost = (at: string, most: number, why: string, found: number): Broken =>
  found > most ? [at, `expected at most ${most} (${why}), found ${found}`] : undefined

const firstOf = (...found: readonly Broken[]): Broken => found.find((broken) => broken)

/** What no steering changes: a document of another model, task or seed is of another run. */
const SETTLED = ['model', 'task', 'seed'] as const

/** Whether the document of a header is of the run that its experiment is of. */
export function brokenDocument({ experiment, document, counters }: CheckpointHeader): Broken {
  for (const name of SETTLED) {
    const [own, other] = [experiment[name], document[name]].map((part) => JSON.stringify(part))
    if (own !== other)
      return [`document.${name}`, 'expected what the experiment has, found another']
  }
  const { done, step } = counters
  for (const [i, entry] of document.steering.entries()) {
    const at = `document.steering.${i}.step`
    if (i < done && entry.step > step)
      return [at, `expected at most ${step} (step), because it is done; found ${entry.step}`]
    if (i >= done && entry.step < step)
      return [at, `expected at least ${step} (step), because it is not done; found ${entry.step}`]
  }
  return undefined
}

/** The most steps that phase `index` can have taken: a person may have changed how many it has,
 * also to fewer. */
function mostSteps({ experiment, document, counters }: CheckpointHeader, index: number): number {
  const done = document.steering.slice(0, counters.done)
  const isChanged = done.some((entry) => entry.kind === 'set' && entry.path.endsWith('.steps'))
  return isChanged ? MAX_STEPS : experiment.phases[index].steps
}

/** Whether a run of the header's phases can be where its counters say. `run.phase` is one of
 * them. */
export function brokenPosition(header: CheckpointHeader): Broken {
  const { phase, step, phase_step, stage_step, critic_step, is_started } = header.counters
  const { skipped_updates, sample_index } = header.counters
  const before = step - phase_step
  const phases = header.experiment.phases.slice(0, phase)
  const most = phases.reduce((sum, _, i) => sum + mostSteps(header, i), 0)
  return firstOf(
    atMost('run.phase_step', step, 'step', phase_step),
    atMost('run.phase_step', mostSteps(header, phase), 'steps of its phase', phase_step),
    before < phase
      ? [
          'run.step',
          `expected at least ${phase + phase_step}, one for each phase before; found ${step}`,
        ]
      : undefined,
    atMost('run.step', phase_step + most, 'steps of the phases so far', step),
    atMost('run.stage_step', step, 'step', stage_step),
    stage_step < phase_step
      ? ['run.stage_step', `expected at least ${phase_step} (phase_step), found ${stage_step}`]
      : undefined,
    atMost('run.critic_step', stage_step, 'stage_step', critic_step),
    !is_started && step > 0
      ? ['run.is_started', `expected true after step ${step}, found false`]
      : undefined,
    atMost('run.skipped_updates', step * MAX_UPDATES, 'more than a run makes', skipped_updates),
    atMost('run.sample_index', MAX_SAMPLES, 'more than a run draws', sample_index),
    header.parent && atMost('parent.step', step, 'step', header.parent.step),
  )
}

/** Verdicts and steering of phases and steps that do not exist. */
export function brokenTold({ experiment, counters, marks }: CheckpointHeader): Broken {
  for (const index of Object.keys(marks.verdicts)) {
    const phase = experiment.phases[Number(index)]
    if (!phase || !isPairedDocument(phase))
      return [`verdicts.${index}`, 'expected those of a reward_model or preference phase']
  }
  for (const [i, { entry }] of marks.steered.entries())
    if (entry.step > counters.step)
      return [`steered.${i}`, `expected a step up to ${counters.step}, found ${entry.step}`]
  return undefined
}

const isNumber = (value: number): boolean => Number.isFinite(value)
const isShare = (value: number): boolean => value >= 0 && value <= 1
const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0

/** What each part of a learner may hold. */
const VALUES: readonly (readonly [
  part: Exclude<keyof ModelState, 'control'>,
  isSound: (value: number) => boolean,
  expected: string,
])[] = [
  ['weights', isNumber, 'finite numbers'],
  ['adapter', isNumber, 'finite numbers'],
  ['adam_m', isNumber, 'finite numbers'],
  [
    'adam_v',
    (value) => isNumber(value) && value >= 0,
    'finite numbers from 0, because they are means of squares',
  ],
  ['corrections', isShare, 'numbers from 0 to 1, because they are 1 - beta^t'],
]

function brokenControl(model: string, control: Float32Array): Broken {
  const of = (name: (typeof CONTROL)[number]) => control[CONTROL.indexOf(name)]
  const [flag, gradNorm, clipCoef] = [of('is_finite'), of('grad_norm'), of('clip_coef')]
  const expect = (name: (typeof CONTROL)[number], isSound: boolean, expected: string): Broken =>
    isSound ? undefined : [`${model}.control.${name}`, `expected ${expected}, found ${of(name)}`]
  return firstOf(
    expect('is_finite', flag === 0 || flag === 1, '0 or 1'),
    expect('skipped_steps', isCount(of('skipped_steps')), 'a count'),
    expect('optimizer_steps', isCount(of('optimizer_steps')), 'a count'),
    expect('clip_coef', isShare(clipCoef), 'a number from 0 to 1'),
    // Of an update that was left out the norm is as it came, and nothing is applied.
    expect('grad_norm', flag === 0 || (isNumber(gradNorm) && gradNorm >= 0), 'a finite norm'),
    expect('clip_coef', flag === 1 || clipCoef === 0, '0 of an update that was left out'),
  )
}

/** Numbers of the models that no training leaves, or from which none can continue. */
export function brokenNumbers(states: ModelStates): Broken {
  const { reference, lens } = states
  for (const model of ['actor', 'critic', 'reward_model'] as const) {
    const state = states[model]
    if (!state) continue
    for (const [part, isSound, expected] of VALUES) {
      const values = state[part] ?? new Float32Array()
      const broken = brokenValue(`${model}.${part}`, values, isSound, expected)
      if (broken) return broken
    }
    const broken = brokenControl(model, state.control)
    if (broken) return broken
  }
  return (
    (reference && brokenValue('reference', reference, isNumber, 'finite numbers')) ??
    lens
      ?.map(({ values }) => brokenValue('lens', values, isNumber, 'finite numbers'))
      .find((broken) => broken !== undefined)
  )
}

function brokenValue(
  at: string,
  values: Float32Array,
  isSound: (value: number) => boolean,
  expected: string,
): Broken {
  // A loop: a model has millions of them.
  for (let i = 0; i < values.length; i++)
    if (!isSound(values[i])) return [at, `expected ${expected}, found ${values[i]} at ${i}`]
  return undefined
}

/** Coefficients and scores beside the models. NaN is what an adaptive coefficient has become of a
 * KL that was none. */
export const brokenCoefficient = (
  klCoef: number | null,
  { phases }: Experiment,
  phase: number,
): Broken =>
  klCoef === null
    ? undefined
    : phases[phase].kind !== 'rl'
      ? ['run.kl_coef', `expected none, because phase ${phase} is no rl phase; found ${klCoef}`]
      : klCoef < 0
        ? ['run.kl_coef', `expected a number from 0, found ${klCoef}`]
        : undefined
