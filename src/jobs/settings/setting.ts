// Describes how a field of an experiment leaves the lab: under which name, in another form, or not
// at all. settings.ts has every field.

import type { RlDocument } from '../../document/experiment/fields/phases.ts'
import type { PhaseSettings } from '../../document/experiment/schema/phase_settings.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { FieldValue } from '../../rl/fields/field.ts'

/** Every system that a job is written for. */
export const TARGETS = ['verl', 'bupo', 'trl'] as const
export type Target = (typeof TARGETS)[number]

/** Of verl, the keys of which moved: from 0.9 on, or 0.7 and its point releases. */
export type VerlVersion = '0.9' | '0.7'

/** The names of the systems in sentences. */
export const TARGET_NAMES: Readonly<Record<Target, string>> = {
  verl: 'verl',
  bupo: 'BuPO’s fork of verl',
  trl: 'TRL',
}

/** The way out that another system is; how it is chosen, the page and the command line say. */
export const EXPORT_FOR: Readonly<Record<Target, string>> = {
  verl: 'export for verl',
  bupo: 'export for BuPO’s fork of verl',
  trl: 'export for TRL',
}

/** A value as a configuration takes it. */
export type Written = string | number | boolean | null | readonly number[] | readonly string[]

/** A path inside the job's folder, wherever that lies. */
export interface JobPath {
  readonly in_job: string
}

/** What an argument of verl's command line may be. */
export type VerlValue = Written | readonly string[] | JobPath

/** What a field is written from, beside its own value. */
export interface JobFacts {
  readonly experiment: Experiment
  /** The phase of reinforcement that the job trains; with an inner phase before it, the one of the
   * whole model. */
  readonly phase: RlDocument
  readonly settings: PhaseSettings
  /** What was done by hand to the run that the weights are of; undefined = what the experiment
   * says. */
  readonly changes?: Experiment['steering'] | undefined
  /** Steps of the whole job. */
  readonly steps: number
  /** Optimizer steps of one training step: mini-batches times epochs. */
  readonly updates: number
}

/** The field has a name there. */
interface Renamed {
  readonly to: string | readonly string[]
  /** What is written instead of the field's own value; undefined = nothing. */
  readonly value?: (value: never, facts: JobFacts) => Written | undefined
  /** The values that the system knows, where it does not check them itself. Any other is
   * refused. */
  readonly legal?: readonly string[]
  /** What is expected where the value does not mean the same there; undefined = it does. Such a
   * value is refused. */
  readonly expected?: (value: never, facts: JobFacts) => string | undefined
}

/** The field has no counterpart. A value that does nothing (`unless`) is not mentioned; any other
 * is reported, or refused. */
interface Lost {
  readonly lost: string
  /** The same of weights that were trained already, where that is another reason. */
  readonly trained?: string
  readonly unless?: FieldValue
  readonly refuse?: true
}

/** The field is in the job in another form. */
interface Held {
  readonly by: string
}

export type Fate = Renamed | Lost | Held

/** One field, or with a name that ends in .* all fields below it. */
export interface Setting {
  /** Whether the field plays a part in the phase; by default it does. */
  readonly when?: (facts: JobFacts) => boolean
  readonly verl: Fate
  /** Where verl from 0.9 on does otherwise with a tokenizer that has a chat template. */
  readonly verlChat?: Fate
  /** Where verl 0.7 differs from 0.9. */
  readonly verl_0_7?: Fate
  /** Where the fork differs from verl. */
  readonly bupo?: Fate
  readonly trl: Fate
}

export const to = (key: string | readonly string[], value?: Renamed['value']): Fate => ({
  to: key,
  ...(value && { value }),
})
export const oneOf = (key: string, legal: readonly string[], value?: Renamed['value']): Fate => ({
  to: key,
  legal,
  ...(value && { value }),
})
export const by = (what: string): Fate => ({ by: what })
export const lost = (why: string, unless?: FieldValue): Fate => ({
  lost: why,
  ...(unless !== undefined && { unless }),
})
export const refused = (why: string, unless: FieldValue): Fate => ({
  lost: why,
  unless,
  refuse: true,
})
