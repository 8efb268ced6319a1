// Which problems a run trains on.

/** verl's `data` block. */
export interface Data {
  /** Problems of the finite set, the first ones of the task's training problems; -1 = none: every
   * draw is from all of them. */
  readonly train_max_samples: number
  /** Whether every pass over the set has an order of its own; without, all have the same. Endless
   * draws are random anyway. */
  readonly shuffle: boolean
}

export const DATA_DEFAULTS: Data = { train_max_samples: -1, shuffle: true }

/** Whether training goes through a finite set. */
export const hasSet = ({ train_max_samples }: Data): boolean => train_max_samples > 0

/** Steps of one pass: whole batches alone, as verl's data loader with drop_last; 0 where there is
 * no set, or a smaller one. */
export const stepsPerEpoch = ({ train_max_samples }: Data, batch_size: number): number =>
  Math.max(0, Math.floor(train_max_samples / batch_size))
