// Declares the question how much memory a run would take, and its answer.
import type { Experiment } from '../../document/experiment/schema/schema.ts'

/** Asks it of a run of this document. Answered by `plan` with the same `id`, or not at all;
 * allocates nothing. */
export interface PlanCommand {
  readonly type: 'plan'
  readonly experiment: Experiment
  readonly id?: number
}

/** The bytes that the document would take, and those that are allocated without asking. */
export interface PlanEvent {
  readonly type: 'plan'
  readonly id?: number
  readonly bytes: number
  readonly allowed_bytes: number
  /** The bytes by what they are for, as in `memory`: weights, gradients, … */
  readonly memory?: Readonly<Record<string, number>>
  /** What another model that teaches takes of them; absent without one. */
  readonly teacher_bytes?: number
  /** Which settings save how much, where it would take more than is allocated without asking. */
  readonly savings?: string
}
