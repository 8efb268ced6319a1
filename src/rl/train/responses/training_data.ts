// Chooses the problems that every step trains on: an endless stream, or passes over a finite set as
// verl's data loader makes them; in reinforcement with a curriculum and without problems that teach
// nothing.
import type { Sample, Task } from '../../../tasks/task/task.ts'
import {
  ADMITS_ALL,
  DATA_DEFAULTS,
  type Data,
  isSelective,
  NO_CURRICULUM,
} from '../../config/data.ts'
import type { TaskLevel, TrainerConfig } from '../../config/trainer_config.ts'
import { shuffledOrder } from '../../math/shuffle.ts'

/** Keeps the order of problems apart from other draws under the same generator and seed. */
const PROBLEMS_STREAM = 0x64617461

/** What is known of the problems of a set; [problems] each. */
export interface MeasuredProblems {
  /** Share of right responses when it was last answered; NaN before. */
  readonly rates: Float64Array
  /** The pass in which that was. */
  readonly epochs: Float64Array
}

/** What the problems of a run have shown so far. */
export interface DifficultyState {
  /** The place from which each further level of the curriculum is drawn. */
  readonly level_starts: readonly number[]
  /** Where problems can be left out. */
  readonly measured?: MeasuredProblems
}

/** Whether the responses to a group's prompt were right, and where its problem lies. */
export interface Answered {
  readonly place: number
  readonly rate: number
}

/** The training problems of a run, in order. A place is passes so far · N + place in the present
 * pass with a set of N problems, else a count; `sample_index` is the next one. */
export class TrainingData {
  sample_index = 0
  /** Which pass over the set the last batch was of, from 0 and over all phases; undefined without a
   * set. */
  epoch: number | undefined
  #seed: number
  #data: Data
  #levels: readonly TaskLevel[]
  #levelStarts: number[] = []
  #measured: MeasuredProblems | undefined
  #order: { readonly epoch: number; readonly places: readonly number[] } | undefined

  constructor(
    seed: number,
    task: Task,
    data: Data = DATA_DEFAULTS,
    levels?: TrainerConfig['levels'],
  ) {
    this.#seed = seed
    this.#data = data
    this.#levels = levels ?? [{ value: 0, task }]
    const { train_max_samples: size, admission = ADMITS_ALL } = data
    if (size !== null && isSelective(admission))
      this.#measured = {
        rates: new Float64Array(size).fill(Number.NaN),
        epochs: new Float64Array(size),
      }
  }

  /** The next problems; a set is repeated. */
  take(count: number): Sample[] {
    return this.#next(count).map((place) => this.#sample(place, this.#levels.length - 1))
  }

  /** The next problems of a batch of demonstrations: of the task itself, whatever is known of
   * them. */
  takeBatch(count: number): Sample[] {
    this.#beginBatch(count)
    const places = this.#next(count)
    this.trains(places)
    return places.map((place) => this.#sample(place, this.#levels.length - 1))
  }

  /** Where the next problems of a batch of reinforcement lie, all of one pass: where too few are
   * left of it the next one begins (verl's drop_last). Problems that are too hard or too easy are
   * left out while there are enough others in a pass. Throws RangeError for more problems than the
   * set has. */
  takePlaces(count: number): number[] {
    this.#beginBatch(count)
    const places = this.#measured ? this.#admitted(count, this.#measured) : this.#next(count)
    this.trains(places)
    return places
  }

  /** A step trains on the problems of these places. */
  trains([first]: readonly number[]): void {
    const { train_max_samples } = this.#data
    if (train_max_samples !== null) this.epoch = Math.floor(first / train_max_samples)
  }

  /** The problem at this place of the run's order, for reinforcement. */
  at(place: number): Sample {
    return this.#sample(place, this.#levelAt(place))
  }

  /** A phase begins with a pass of its own. */
  beginPhase(): void {
    const { train_max_samples } = this.#data
    if (train_max_samples !== null)
      this.sample_index = Math.ceil(this.sample_index / train_max_samples) * train_max_samples
  }

  /** Learns from a step how hard its problems are; returns what is to be reported of that. */
  learn(answered: readonly Answered[]): Record<string, number> {
    const { curriculum = NO_CURRICULUM, train_max_samples } = this.#data
    const level = Math.min(...answered.map(({ place }) => this.#levelAt(place)))
    const rate = answered.reduce((sum, one) => sum + one.rate, 0) / answered.length
    const isLast = level === this.#levels.length - 1
    // Samples that waited can be of an earlier value than the present one.
    const isPresent = level === this.#levelStarts.length
    if (isPresent && !isLast && rate >= curriculum.advance_at)
      this.#levelStarts.push(this.sample_index)
    const reported =
      this.#levels.length > 1 ? { 'curriculum/value': this.#levels[level].value } : {}
    const measured = this.#measured
    if (!measured || train_max_samples === null) return reported
    for (const { place, rate } of answered) {
      const problem = this.#problem(place, train_max_samples)
      measured.rates[problem] = rate
      measured.epochs[problem] = Math.floor(place / train_max_samples)
    }
    const epoch = this.epoch ?? 0
    const admits = measured.rates.filter((_, problem) => this.#admits(problem, epoch, measured))
    return { ...reported, 'curriculum/admitted': admits.length / train_max_samples }
  }

  exportDifficulty(): DifficultyState {
    const measured = this.#measured
    return {
      level_starts: [...this.#levelStarts],
      ...(measured && {
        measured: { rates: measured.rates.slice(), epochs: measured.epochs.slice() },
      }),
    }
  }

  /** Continues from a state, as far as it is one of this set. */
  importDifficulty({ level_starts, measured }: DifficultyState): void {
    this.#levelStarts = level_starts.slice(0, this.#levels.length - 1)
    if (this.#measured && measured?.rates.length === this.#measured.rates.length)
      this.#measured = { rates: measured.rates.slice(), epochs: measured.epochs.slice() }
  }

  #beginBatch(count: number): void {
    const { train_max_samples } = this.#data
    if (train_max_samples === null) return
    if (count > train_max_samples)
      throw new RangeError(
        `data: expected batches of at most ${train_max_samples} problems (train_max_samples), got ${count}`,
      )
    const left = train_max_samples - (this.sample_index % train_max_samples)
    if (count > left) this.sample_index += left
  }

  #next(count: number): number[] {
    const first = this.sample_index
    this.sample_index += count
    return Array.from({ length: count }, (_, i) => first + i)
  }

  /** The next problems that are admitted. A pass with too few of them is left for the next one,
   * which, where it has too few as a whole, is filled with problems that are not. */
  #admitted(count: number, measured: MeasuredProblems): number[] {
    const size = measured.rates.length
    const restOf = (first: number) => {
      const end = (Math.floor(first / size) + 1) * size
      const places = Array.from({ length: end - first }, (_, i) => first + i)
      const isIn = (place: number) =>
        this.#admits(this.#problem(place, size), Math.floor(place / size), measured)
      return { end, places, admitted: places.filter(isIn) }
    }
    let rest = restOf(this.sample_index)
    if (rest.admitted.length < count && this.sample_index % size !== 0) rest = restOf(rest.end)
    const { end, places, admitted } = rest
    if (admitted.length >= count) {
      const taken = admitted.slice(0, count)
      this.sample_index = taken[count - 1] + 1
      return taken
    }
    const others = places.filter((place) => !admitted.includes(place))
    this.sample_index = end
    return [...admitted, ...others.slice(0, count - admitted.length)].sort((a, b) => a - b)
  }

  #admits(problem: number, epoch: number, { rates, epochs }: MeasuredProblems): boolean {
    const { min_rate, max_rate, retry_epochs } = this.#data.admission ?? ADMITS_ALL
    const rate = rates[problem]
    if (Number.isNaN(rate) || epoch - epochs[problem] > retry_epochs) return true
    return rate >= min_rate && rate <= max_rate
  }

  #levelAt(place: number): number {
    return this.#levelStarts.filter((start) => place >= start).length
  }

  #sample(place: number, level: number): Sample {
    const { task } = this.#levels[level]
    const { train_max_samples } = this.#data
    if (train_max_samples === null) return task.sample(this.#seed, place, 'train')
    return task.sample(this.#seed, this.#problem(place, train_max_samples), 'train_set')
  }

  /** Which problem of the set lies at a place. */
  #problem(place: number, size: number): number {
    const epoch = Math.floor(place / size)
    return this.#data.shuffle ? this.#orderOf(epoch, size)[place % size] : place % size
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
