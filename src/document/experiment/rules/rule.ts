// Declares what a rule between fields is given.

import type { RlDocument } from '../fields/phases.ts'
import type { PhaseSettings } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'

/** Says what is wrong at `path` where it does not hold; `involved` are the other fields that it is
 * about. */
export type Rule = (
  holds: boolean,
  path: string,
  involved: readonly string[],
  message: string,
) => void

/** A phase trains the policy of an inner layer, or the final one. */
export const innerLayerWords = (layers: number, got: number | 'final'): string =>
  layers === 1
    ? `expected 'final', because a model of 1 layer has no inner one; got ${got}`
    : `expected 'final' or an inner layer of the model, 1 to ${layers - 1}; got ${got}`

/** What the rules of one rl phase are about. */
export interface RuledPhase {
  readonly experiment: Experiment
  readonly phase: RlDocument
  /** 'phases.1' */
  readonly at: string
  readonly settings: PhaseSettings
  /** The path of a setting, e.g. of 'rollout.n': the phase's own where it has one. */
  readonly path: (name: string) => string
  readonly rule: Rule
}
