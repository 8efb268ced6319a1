// Which problems a run trains on.

/** verl's `data` block. */
export interface Data {
  /** Problems of the finite set, the first ones of the task's training problems; null = no set:
   * every draw is from all of them. */
  readonly train_max_samples: number | null
  /** Whether every pass over the set has an order of its own; without, all have the same. Endless
   * draws are random anyway. */
  readonly shuffle: boolean
}

export const DATA_DEFAULTS: Data = { train_max_samples: null, shuffle: true }

/** Whether training goes through a finite set. */
export const hasSet = ({ train_max_samples }: Data): boolean => train_max_samples !== null

/** Steps of one pass: whole batches alone, as verl's data loader with drop_last; 0 where there is
 * no set, or a smaller one. */
export const stepsPerEpoch = ({ train_max_samples }: Data, batch_size: number): number =>
  Math.floor((train_max_samples ?? 0) / batch_size)
