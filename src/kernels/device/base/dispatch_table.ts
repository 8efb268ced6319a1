// Lays out the dispatches of a program as a replay reads them: flat, with the params and grids that
// the last live values gave, so that a replay writes only what has changed.
import {
  type Clear,
  type Command,
  type Copy,
  checkedGrid,
  type Dispatch,
  type Grid,
  type LiveValues,
  readParams,
  SLOT_BYTES,
} from './program.ts'

/** Dispatches in a submit at most. */
export const MOST_DISPATCHES = 4096

/** Dispatches of a program with no copy or clear between them, as many as a submit takes. */
export interface Stretch {
  readonly kind: 'stretch'
  /** Where they begin in the program's table. */
  readonly first: number
  readonly dispatches: readonly Dispatch[]
}

/** What a replay does next. */
type Step = Stretch | Copy | Clear

/** A recorded list of GPU commands. Recording creates its pipelines and bind groups; replaying only
 * encodes. `L` names the live values that each replay must supply. */
export interface Program<L extends string = string> {
  readonly label: string
  readonly live: readonly L[]
  /** What a replay does, in order. */
  readonly steps: readonly Step[]
  readonly table: DispatchTable
  readonly place: Place
  /** Compute dispatches per replay. */
  readonly dispatches: number
}

/** A program's params in a uniform buffer of their own, and a bind group for each dispatch. */
export interface Place {
  readonly buffer: GPUBuffer
  readonly groups: readonly GPUBindGroup[]
  /** Version of the table's params that it holds. */
  version: number
  /** Submits sent before the last one that reads it. */
  submit: number
}

/** A number that each replay computes once, wherever it goes. */
interface LiveValue {
  readonly value: (live: LiveValues<string>) => number
  /** Its places in the params as u32 and as f32, in words. */
  readonly words: number[]
  readonly floats: number[]
  /** Grids that may ask for it. */
  readonly grids: LiveGrid[]
}

/** A grid that live values decide: that of dispatch `index`. */
interface LiveGrid {
  readonly index: number
  readonly dispatch: Dispatch
  /** All params of the dispatch, kept from replay to replay. */
  readonly numbers: Record<string, number>
}

export class DispatchTable {
  /** Compiled. */
  readonly dispatches: readonly Dispatch[]
  readonly pipelines: readonly GPUComputePipeline[]
  /** The params of every dispatch, SLOT_BYTES each. */
  readonly params: Uint8Array<ArrayBuffer>
  /** Workgroups of every dispatch in x, y and z. */
  readonly grids: Uint32Array
  /** Counts the changes of the params. */
  version = 0
  readonly #words: Uint32Array
  readonly #floats: Float32Array
  readonly #values: readonly LiveValue[]
  /** What each of `#values` gave last. At first 0, as recorded params have it. */
  readonly #last: Float64Array
  /** Grids to be worked out. One that WebGPU cannot dispatch stays here. */
  readonly #stale = new Set<LiveGrid>()

  constructor(dispatches: readonly Dispatch[]) {
    this.dispatches = dispatches
    this.pipelines = dispatches.map(({ pipeline }) => pipeline)
    this.params = new Uint8Array(dispatches.length * SLOT_BYTES)
    this.#words = new Uint32Array(this.params.buffer)
    this.#floats = new Float32Array(this.params.buffer)
    this.grids = new Uint32Array(dispatches.length * 3)
    const values = new Map<LiveValue['value'], LiveValue>()
    for (const [index, dispatch] of dispatches.entries()) this.#lay(index, dispatch, values)
    this.#values = [...values.values()]
    this.#last = new Float64Array(values.size)
  }

  /** The params of dispatch `index`. */
  paramsOf(index: number): Uint8Array {
    const at = index * SLOT_BYTES
    return this.params.subarray(at, at + this.dispatches[index].params.byteLength)
  }

  gridOf(index: number): Grid {
    const [x, y, z] = this.grids.subarray(3 * index)
    return [x, y, z]
  }

  /** Writes what these live values change. Throws ShapeError for a grid that WebGPU cannot
   * dispatch. */
  setLive(live: LiveValues<string>): void {
    const [values, last] = [this.#values, this.#last]
    for (let i = 0; i < values.length; i++) {
      const { value, words, floats, grids } = values[i]
      const number = value(live)
      if (Object.is(number, last[i])) continue
      last[i] = number
      this.version++
      for (const at of words) this.#words[at] = number
      for (const at of floats) this.#floats[at] = number
      for (const grid of grids) this.#stale.add(grid)
    }
    for (const grid of this.#stale) {
      this.#workOut(grid)
      this.#stale.delete(grid)
    }
  }

  #lay(index: number, dispatch: Dispatch, values: Map<LiveValue['value'], LiveValue>): void {
    const { kernel, params, patches, grid } = dispatch
    this.params.set(params, index * SLOT_BYTES)
    this.grids.set(grid ?? [], 3 * index)
    const numbers = {
      ...readParams(kernel.params, new DataView(params.buffer, params.byteOffset), 0),
    }
    const liveGrid = { index, dispatch, numbers }
    if (!grid) this.#stale.add(liveGrid)
    for (const { offset, dtype, value } of patches) {
      const entry = values.get(value) ?? { value, words: [], floats: [], grids: [] }
      values.set(value, entry)
      const places = dtype === 'f32' ? entry.floats : entry.words
      places.push((index * SLOT_BYTES + offset) / 4)
      if (!grid) entry.grids.push(liveGrid)
    }
  }

  #workOut({ index, dispatch: { kernel, patches }, numbers }: LiveGrid): void {
    for (const { name, offset, dtype } of patches) {
      const at = (index * SLOT_BYTES + offset) / 4
      numbers[name] = dtype === 'f32' ? this.#floats[at] : this.#words[at]
    }
    this.grids.set(checkedGrid(kernel, numbers, kernel.name), 3 * index)
  }
}

/** Compiled commands as a replay goes through them, and the table of their dispatches. */
export function layOut(commands: readonly Command[]): Pick<Program, 'steps' | 'table'> {
  const dispatches: Dispatch[] = []
  const steps: Step[] = []
  let stretch: Dispatch[] | undefined
  for (const command of commands) {
    if (command.kind !== 'dispatch') {
      steps.push(command)
      stretch = undefined
      continue
    }
    if (!stretch || stretch.length === MOST_DISPATCHES) {
      stretch = []
      steps.push({ kind: 'stretch', first: dispatches.length, dispatches: stretch })
    }
    stretch.push(command)
    dispatches.push(command)
  }
  return { steps, table: new DispatchTable(dispatches) }
}
