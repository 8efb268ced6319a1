// Watches a run for numbers that are not finite. Such a step has changed nothing; several in a row will not mend themselves.
import type { NonFinite } from '../rl/nonfinite.ts'
import type { Metrics } from './protocol.ts'

/** So many broken steps in a row end a run's own patience. */
export const BROKEN_STEPS = 3

/** Losses of the update: where one is not finite, so is what came of it. */
const LOSSES = [
  'train/loss',
  'actor/pg_loss',
  'actor/kl_loss',
  'critic/vf_loss',
  'reward_model/loss',
] as const
const SKIPPED = ['training/skipped_updates', 'critic/skipped_updates'] as const

/** A step whose update was left out, or whose loss was not finite. */
export interface BrokenStep {
  readonly step: number
  /** Losses that are Inf or NaN. */
  readonly losses: readonly string[]
  /** Optimizer steps that were not taken. */
  readonly skipped: number
  /** What was not finite first, where an update was left out. */
  readonly evidence?: NonFinite
}

/** What of a step is not finite; undefined where all is well. */
export function brokenStep(
  step: number,
  metrics: Metrics,
  evidence?: NonFinite,
): BrokenStep | undefined {
  const losses = LOSSES.filter((name) => name in metrics && !Number.isFinite(metrics[name]))
  const skipped = SKIPPED.reduce((sum, name) => sum + (metrics[name] ?? 0), 0)
  if (losses.length === 0 && skipped === 0) return undefined
  return { step, losses, skipped, ...(evidence && { evidence }) }
}

/** The broken steps since the last sound one. */
export class Guard {
  #broken: BrokenStep[] = []

  /** Takes a step note of. True where it is time to stop: BROKEN_STEPS in a row. Step 0 trains nothing and counts for nothing. */
  see(step: number, metrics: Metrics, evidence?: NonFinite): boolean {
    if (step === 0) return false
    const broken = brokenStep(step, metrics, evidence)
    if (broken) this.#broken.push(broken)
    else this.#broken = []
    return this.#broken.length >= BROKEN_STEPS
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

/** One sentence of what a broken step shows. */
export function brokenWords({ step, losses, skipped, evidence }: BrokenStep): string {
  const said: string[] = []
  if (skipped > 0)
    said.push(`${skipped} ${skipped === 1 ? 'update was' : 'updates were'} not applied`)
  if (losses.length > 0) said.push(`${losses.join(', ')} not finite`)
  if (evidence?.parameter)
    said.push(`the gradient of ${evidence.parameter} of ${MODELS[evidence.model]} not finite`)
  else if (evidence)
    said.push(`the gradients of ${MODELS[evidence.model]} are finite, but too large for their norm`)
  if (evidence?.token) {
    const { row, position, prompt, response } = evidence.token
    said.push(`first at token ${position + 1} of sample ${row + 1}, “${prompt}${response}”`)
  }
  return `Step ${step}: ${said.join('; ')}.`
}
