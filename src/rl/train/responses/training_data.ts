// Which problem every step trains on: an endless stream, or passes over a finite set as verl's data
// loader makes them.
import type { Sample, Task } from '../../../tasks/task.ts'
import { DATA_DEFAULTS, type Data } from '../../config/data.ts'
import { shuffledOrder } from '../../math/shuffle.ts'

/** Keeps the order of problems apart from other draws under the same generator and seed. */
const PROBLEMS_STREAM = 0x64617461

/** The training problems of a run, in order. Its whole state is `sample_index`; with a set of N
 * problems, that is passes so far · N + problems of the present pass that were taken or left
 * out. */
export class TrainingData {
  sample_index = 0
  /** Which pass over the set the last batch was of, from 0 and over all phases; undefined without a
   * set. */
  epoch: number | undefined
  #seed: number
  #task: Task
  #data: Data
  #order: { readonly epoch: number; readonly places: readonly number[] } | undefined

  constructor(seed: number, task: Task, data: Data = DATA_DEFAULTS) {
    this.#seed = seed
    this.#task = task
    this.#data = data
  }

  /** The next problems; a set is repeated. */
  take(count: number): Sample[] {
    return this.#next(count).map((place) => this.at(place))
  }

  /** The next problems of a batch. */
  takeBatch(count: number): Sample[] {
    return this.takePlaces(count).map((place) => this.at(place))
  }

  /** Where the next problems lie, all of one pass: where too few are left of it the next one begins
   * (verl's drop_last). Throws RangeError for more problems than the set has. */
  takePlaces(count: number): number[] {
    const { train_max_samples } = this.#data
    if (train_max_samples !== null) {
      if (count > train_max_samples)
        throw new RangeError(
          `data: expected batches of at most ${train_max_samples} problems (train_max_samples), got ${count}`,
        )
      const left = train_max_samples - (this.sample_index % train_max_samples)
      if (count > left) this.sample_index += left
    }
    const places = this.#next(count)
    this.trains(places)
    return places
  }

  /** A step trains on the problems of these places. */
  trains([first]: readonly number[]): void {
    const { train_max_samples } = this.#data
    if (train_max_samples !== null) this.epoch = Math.floor(first / train_max_samples)
  }

  #next(count: number): number[] {
    const first = this.sample_index
    this.sample_index += count
    return Array.from({ length: count }, (_, i) => first + i)
  }

  /** A phase begins with a pass of its own. */
  beginPhase(): void {
    const { train_max_samples } = this.#data
    if (train_max_samples !== null)
      this.sample_index = Math.ceil(this.sample_index / train_max_samples) * train_max_samples
  }

  /** The problem at this place of the run's order. */
  at(index: number): Sample {
    const { train_max_samples, shuffle } = this.#data
    if (train_max_samples === null) return this.#task.sample(this.#seed, index, 'train')
    const place = index % train_max_samples
    const epoch = Math.floor(index / train_max_samples)
    const problem = shuffle ? this.#orderOf(epoch, train_max_samples)[place] : place
    return this.#task.sample(this.#seed, problem, 'train_set')
  }

  #orderOf(epoch: number, size: number): readonly number[] {
    if (this.#order?.epoch !== epoch) {
      const key = [this.#seed, PROBLEMS_STREAM] as const
      const places = shuffledOrder(size, key, [epoch, 0])
      this.#order = { epoch, places }
    }
    return this.#order.places
  }
}
