// Watches a run for numbers that are not finite. Several such steps in a row will not mend
// themselves.
import type { NonFinite } from '../../rl/metrics/nonfinite.ts'

import type { Metrics } from './results.ts'

/** A run stops after this many broken steps in a row. */
export const BROKEN_STEPS = 3

/** Losses of the update: where one is not finite, so is what came of it. */
const LOSSES = [
  'train/loss',
  'actor/pg_loss',
  'actor/kl_loss',
  'critic/vf_loss',
  'reward_model/loss',
  'preference/loss',
  'distillation/loss',
] as const
/** Entropies of policies: where advantages are zero there is no gradient to break, and these alone
 * show weights that are no numbers. */
const ENTROPY = /^(actor\/entropy|layer\/entropy\/\d+)$/
const SKIPPED = ['training/skipped_updates', 'critic/skipped_updates'] as const

/** Where a state holds Inf or NaN. */
export interface UnsoundPart {
  readonly model: 'actor' | 'critic' | 'reward_model'
  readonly part: 'weights' | 'adapter' | 'adam_m' | 'adam_v'
  /** Hugging Face name of the first parameter that is not finite. */
  readonly parameter?: string
}

/** A step whose update was left out, or whose loss, entropies or weights are not finite. */
export interface BrokenStep {
  readonly step: number
  /** Losses and entropies that are Inf or NaN. */
  readonly metrics: readonly string[]
  /** Optimizer steps that were not taken. */
  readonly skipped: number
  /** What was not finite first, where an update was left out. */
  readonly evidence?: NonFinite
  /** What of the state after the step is not finite, where that was looked at. */
  readonly unsound?: UnsoundPart
}

/** What of a step is not finite; undefined where all is well. */
export function brokenStep(
  step: number,
  metrics: Metrics,
  evidence?: NonFinite,
): BrokenStep | undefined {
  const entropies = Object.keys(metrics).filter((name) => ENTROPY.test(name))
  const watched = [...LOSSES.filter((name) => name in metrics), ...entropies]
  const nonfinite = watched.filter((name) => !Number.isFinite(metrics[name]))
  const skipped = SKIPPED.reduce((sum, name) => sum + (metrics[name] ?? 0), 0)
  if (nonfinite.length === 0 && skipped === 0) return undefined
  return { step, metrics: nonfinite, skipped, ...(evidence && { evidence }) }
}

/** The broken steps since the last sound one. */
export class Guard {
  #broken: BrokenStep[] = []

  /** Takes a step note of. True where it is time to stop: BROKEN_STEPS in a row. Step 0 trains
   * nothing and counts for nothing. */
  see(step: number, metrics: Metrics, evidence?: NonFinite): boolean {
    if (step === 0) return false
    const broken = brokenStep(step, metrics, evidence)
    if (broken) this.#broken.push(broken)
    else this.#broken = []
    return this.#broken.length >= BROKEN_STEPS
  }

  /** The state after `step` is not finite: no later step can be sound. */
  brokenBy(step: number, unsound: UnsoundPart): BrokenNumbers {
    const before = this.#broken.filter((broken) => broken.step !== step)
    const own = this.#broken.find((broken) => broken.step === step)
    return new BrokenNumbers([...before, { step, metrics: [], skipped: 0, ...own, unsound }])
  }

  /** Oldest first. */
  get broken(): readonly BrokenStep[] {
    return this.#broken
  }

  /** After the run went back to where it was sound. */
  reset(): void {
    this.#broken = []
  }
}

/** The run is to go back to where it was sound, and to wait. */
export class BrokenNumbers extends Error {
  override name = 'BrokenNumbers'
  readonly broken: readonly BrokenStep[]
  constructor(broken: readonly BrokenStep[]) {
    super(broken.map(brokenWords).join('\n'))
    this.broken = broken
  }
}

const MODELS = {
  actor: 'the policy',
  critic: 'the critic',
  reward_model: 'the reward model',
} as const

const PARTS = { weights: '', adapter: '', adam_m: 'adam_m of ', adam_v: 'adam_v of ' } as const

/** What ended a run's patience, as the beginning of a sentence or more. */
export function brokenHead(broken: readonly BrokenStep[]): string {
  if (broken.some(({ unsound }) => unsound))
    return 'The weights are not finite numbers any more, so nothing that follows can be sound and no checkpoint of them was written.'
  const were = `${broken.length} steps in a row were not finite`
  return broken.every(({ skipped }) => skipped > 0)
    ? `${were}, so their updates were not applied.`
    : `${were}.`
}

/** Names in a sentence: the first few, and how many there are besides. */
const SHOWN = 3
const listed = (names: readonly string[]): string =>
  names.length > SHOWN + 1
    ? `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
    : names.join(', ')

/** One sentence of what a broken step shows. */
export function brokenWords({ step, metrics, skipped, evidence, unsound }: BrokenStep): string {
  const said: string[] = []
  if (skipped > 0)
    said.push(`${skipped} ${skipped === 1 ? 'update was' : 'updates were'} not applied`)
  if (metrics.length > 0) said.push(`${listed(metrics)} not finite`)
  if (evidence?.parameter)
    said.push(`the gradient of ${evidence.parameter} of ${MODELS[evidence.model]} not finite`)
  else if (evidence)
    said.push(`the gradients of ${MODELS[evidence.model]} are finite, but too large for their norm`)
  if (evidence?.token) {
    const { row, position, prompt, response } = evidence.token
    said.push(`first at token ${position + 1} of sample ${row + 1}, “${prompt}${response}”`)
  }
  if (unsound) {
    const { model, part, parameter = 'a parameter' } = unsound
    said.push(`${PARTS[part]}${parameter} of ${MODELS[model]} not finite`)
  }
  return `Step ${step}: ${said.join('; ')}.`
}
