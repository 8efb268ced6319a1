// Packs the curves of a run, small enough for a link: `#r=…`. Decoding takes hostile input and
// never throws.
import { varint } from '../../formats/tensorboard/varint.ts'
import { cleanName } from './names.ts'
import {
  GREEDY_ACCURACY,
  MAIN_MEASURE,
  type SharedLine,
  type SharedResult,
} from './shared_result.ts'

/** Columns of one metric, as Series has them. */
export interface Columns {
  readonly steps: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly length: number
}

const VERSION = 1
/** Longer texts are not read at all. */
export const MAX_SUMMARY_LENGTH = 4000
/** Most points of a line. */
export const MAX_POINTS = 40
/** Most points of each of many lines. */
export const FEW_POINTS = 24
const MAX_LINES = 16
const MAX_ADAPTER = 48
const MAX_STEP = 10_000_000
const LARGEST = 1e9
/** A level is a byte: 255 stands for NaN, and the others for 255 equal distances from the lowest to
 * the highest value. */
const LEVELS = 254
const GAP = 255
/** Ids from here on are the entropies of layers. */
const FIRST_LAYER = 32
const LAYER = /^layer\/entropy\/(\d{1,3})$/

/** What a link may tell besides entropies. Their places are ids in links: they never change. */
export const TOLD_METRICS: readonly string[] = [
  'critic/score/mean',
  'task/score/mean',
  GREEDY_ACCURACY,
  'actor/ppo_kl',
  'reward_model/held_out_accuracy',
  'eval_rewards/accuracies',
  MAIN_MEASURE,
]

function idOf(name: string): number | undefined {
  const layer = LAYER.exec(name)
  if (layer)
    return Number(layer[1]) < 256 - FIRST_LAYER ? FIRST_LAYER + Number(layer[1]) : undefined
  const id = TOLD_METRICS.indexOf(name)
  return id < 0 ? undefined : id
}

const nameOf = (id: number): string | undefined =>
  id >= FIRST_LAYER ? `layer/entropy/${id - FIRST_LAYER}` : TOLD_METRICS[id]

/** At most `most` of the points, evenly spread: the first and the last are among them. Values are
 * as they were measured. */
export function thinned(
  { steps, values, length }: Columns,
  most: number,
): Omit<SharedLine, 'name'> {
  const kept = Math.min(most, length)
  const at = (i: number) => (kept === 1 ? length - 1 : Math.round((i * (length - 1)) / (kept - 1)))
  const indices = Array.from({ length: kept }, (_, i) => at(i))
  return { steps: indices.map((i) => steps[i]), values: indices.map((i) => values[i]) }
}

const isDrawn = (value: number) => Number.isFinite(value) && Math.abs(value) <= LARGEST

/** The text of a link's part `r`, base64url of: version; adapter's name; last step; the lists of
 * steps; per line its id, list, lowest, highest and last value (f32) and one byte for every value.
 * Lines that have no number are left out. */
export function encodeSummary({ adapter, steps, lines }: SharedResult): string {
  const drawn = lines.filter(({ name, values }) => idOf(name) !== undefined && values.some(isDrawn))
  const grids = [...new Set(drawn.map((line) => line.steps.join()))]
  const out: number[] = [VERSION]
  const name = new TextEncoder().encode(shortName(adapter))
  out.push(name.length, ...name, ...varint(steps), grids.length)
  for (const grid of grids) {
    const list = grid.split(',').map(Number)
    out.push(list.length, ...list.flatMap((step, i) => varint(i === 0 ? step : step - list[i - 1])))
  }
  out.push(drawn.length)
  for (const line of drawn) {
    const finite = line.values.filter(isDrawn)
    // Adding 0 takes the sign off a zero.
    const [low, high] = [Math.min(...finite), Math.max(...finite)].map((v) => Math.fround(v) + 0)
    const last = line.values[line.values.length - 1]
    out.push(idOf(line.name) ?? 0, grids.indexOf(line.steps.join()))
    for (const value of [low, high, isDrawn(last) ? last : Number.NaN]) out.push(...float(value))
    out.push(...line.values.map((value) => levelOf(value, low, high)))
  }
  return base64url(out)
}

/** As a link carries it. */
export const shortName = (adapter: string): string =>
  cleanName([...cleanName(adapter)].slice(0, MAX_ADAPTER).join(''))

function levelOf(value: number, low: number, high: number): number {
  if (!isDrawn(value)) return GAP
  if (high === low) return 0
  return Math.min(LEVELS, Math.max(0, Math.round((LEVELS * (value - low)) / (high - low))))
}

function float(value: number): number[] {
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, value)
  return [0, 1, 2, 3].map((i) => view.getUint8(i))
}

const base64url = (bytes: readonly number[]): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

function bytesOf(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  // Bits beyond the last byte would be a second spelling.
  return base64url([...bytes]) === text ? bytes : undefined
}

export interface DecodedSummary {
  readonly result: SharedResult | undefined
  readonly notices: readonly string[]
}

const refuse = (why: string): DecodedSummary => ({
  result: undefined,
  notices: [`The sender’s curves in the link cannot be read: ${why}.`],
})

/** What `encodeSummary` wrote, to within the steps of a byte. Anything else is one notice. */
export function decodeSummary(text: string): DecodedSummary {
  if (text.length > MAX_SUMMARY_LENGTH) return refuse(`they are ${text.length} characters long`)
  const bytes = bytesOf(text)
  if (!bytes) return refuse('they are not written as ours are')
  if (bytes[0] !== VERSION) return refuse(`their version, ${bytes[0]}, is not known here`)
  const reader = new Reader(bytes)
  const result = readResult(reader)
  if (!result) return refuse('they are damaged, or the link was cut')
  return { result, notices: [] }
}

/** Reads on until something is amiss; then all that follows is NaN. */
class Reader {
  readonly #view: DataView
  #at = 1

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer)
  }

  get isAtEnd(): boolean {
    return this.#at === this.#view.byteLength
  }

  byte(): number {
    return this.#at < this.#view.byteLength ? this.#view.getUint8(this.#at++) : Number.NaN
  }

  float(): number {
    this.#at += 4
    return this.#at <= this.#view.byteLength ? this.#view.getFloat32(this.#at - 4) : Number.NaN
  }

  /** Of at most four bytes, in its shortest form. */
  varint(): number {
    let [value, scale] = [0, 1]
    for (let i = 0; i < 4; i++) {
      const byte = this.byte()
      value += (byte % 128) * scale
      if (byte < 128) return byte === 0 && i > 0 ? Number.NaN : value
      scale *= 128
    }
    return Number.NaN
  }
}

const within = (value: number, low: number, high: number) => value >= low && value <= high

function readResult(reader: Reader): SharedResult | undefined {
  const length = reader.byte()
  if (!within(length, 1, 4 * MAX_ADAPTER)) return undefined
  const name = Uint8Array.from({ length }, () => reader.byte())
  const adapter = textOf(name)
  const steps = reader.varint()
  if (adapter === undefined || !within(steps, 0, MAX_STEP)) return undefined
  const grids = readGrids(reader, steps)
  const count = reader.byte()
  if (!grids || !within(count, 1, MAX_LINES)) return undefined
  const lines: SharedLine[] = []
  for (let i = 0; i < count; i++) {
    const line = readLine(reader, grids)
    if (!line || lines.some(({ name }) => name === line.name)) return undefined
    lines.push(line)
  }
  return reader.isAtEnd ? { adapter, steps, lines } : undefined
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text === shortName(text) ? text : undefined
  } catch {
    return undefined
  }
}

function readGrids(reader: Reader, last: number): number[][] | undefined {
  const count = reader.byte()
  if (!within(count, 1, MAX_LINES)) return undefined
  const grids: number[][] = []
  for (let i = 0; i < count; i++) {
    const points = reader.byte()
    if (!within(points, 1, MAX_POINTS)) return undefined
    const steps: number[] = []
    for (let j = 0; j < points; j++) {
      const more = reader.varint()
      const step = j === 0 ? more : steps[j - 1] + more
      if (!within(step, j === 0 ? 0 : steps[j - 1] + 1, last)) return undefined
      steps.push(step)
    }
    grids.push(steps)
  }
  return grids
}

function readLine(reader: Reader, grids: readonly number[][]): SharedLine | undefined {
  const name = nameOf(reader.byte())
  const steps = grids[reader.byte()]
  const [low, high, last] = [reader.float(), reader.float(), reader.float()]
  if (name === undefined || steps === undefined) return undefined
  if (!within(low, -LARGEST, high) || !within(high, low, LARGEST)) return undefined
  const levels = steps.map(() => reader.byte())
  if (levels.some(Number.isNaN)) return undefined
  const values = levels.map((level) =>
    level === GAP ? Number.NaN : level === LEVELS ? high : low + (level / LEVELS) * (high - low),
  )
  const isGap = levels[levels.length - 1] === GAP
  if (isGap !== Number.isNaN(last) || (!isGap && !within(last, low, high))) return undefined
  return { name, steps, values: [...values.slice(0, -1), last] }
}
