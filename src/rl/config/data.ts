// Which problems a run trains on.

/** verl's `data` block. */
export interface Data {
  /** Problems of the finite set, the first ones of the task's training problems; null = no set:
   * every draw is from all of them. */
  readonly train_max_samples: number | null
  /** Whether every pass over the set has an order of its own; without, all have the same. Endless
   * draws are random anyway. */
  readonly shuffle: boolean
  readonly curriculum?: Curriculum
  readonly admission?: Admission
}

/** Reinforcement begins with an easier task, and a parameter of it rises as the policy learns. */
export interface Curriculum {
  /** The task's parameter; null = no curriculum. */
  readonly param: string | null
  /** Its first value; the last one is the task's own. */
  readonly start: number
  /** The share of right responses in a step at which it rises. */
  readonly advance_at: number
}

/** Which problems of the set reinforcement trains on, by the share of right responses when each was
 * last answered. */
export interface Admission {
  readonly min_rate: number
  readonly max_rate: number
  /** Passes after which a problem that was left out is tried again. */
  readonly retry_epochs: number
}

export const NO_CURRICULUM: Curriculum = { param: null, start: 1, advance_at: 0.8 }
export const ADMITS_ALL: Admission = { min_rate: 0, max_rate: 1, retry_epochs: 4 }

/** Whether any problem can be left out. */
export const isSelective = ({ min_rate, max_rate }: Admission): boolean =>
  min_rate > 0 || max_rate < 1

export const DATA_DEFAULTS: Data = { train_max_samples: null, shuffle: true }

/** Whether training goes through a finite set. */
export const hasSet = ({ train_max_samples }: Data): boolean => train_max_samples !== null

/** Steps of one pass: whole batches alone, as verl's data loader with drop_last; 0 where there is
 * no set, or a smaller one. */
export const stepsPerEpoch = ({ train_max_samples }: Data, batch_size: number): number =>
  Math.floor((train_max_samples ?? 0) / batch_size)
