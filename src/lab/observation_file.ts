// Observations as lines of text: what `lab train --observe` writes, and what a recorded run is read from.
import type { Lens, LensReadout, Observation } from './observation.ts'

/** Of float32 numbers: what a screen can show. */
const DIGITS = 6
const short = (x: number) => (Number.isFinite(x) ? Number(x.toPrecision(DIGITS)) : null)

/** One line of JSON, without its end: {"step": 3, "observation": {…}}, numbers to 6 digits, NaN as null. */
export function observationLine(step: number, observation: Observation): string {
  const write = (_: string, value: unknown) => {
    if (value instanceof Float32Array) return Array.from(value, short)
    return typeof value === 'number' ? short(value) : value
  }
  return JSON.stringify({ step, observation }, write)
}

/** What a line holds. Throws SyntaxError where it is no JSON, RangeError where it is no observation. */
export function readObservationLine(line: string): { step: number; observation: Observation } {
  const { step, observation } = JSON.parse(line) ?? {}
  const is_known =
    Number.isInteger(step) &&
    Array.isArray(observation?.lenses) &&
    observation.mean instanceof Object
  if (!is_known)
    throw new RangeError(`observations: expected {step, observation}, got ${line.slice(0, 60)}`)
  return { step, observation: { ...observation, lenses: observation.lenses.map(readLens) } }
}

type Plain<T> = { [K in keyof T]: T[K] extends Float32Array ? (number | null)[] : T[K] }

const numbersOf = (values: readonly (number | null)[]) =>
  Float32Array.from(values, (x) => x ?? Number.NaN)

const readReadout = ({ entropy, top, top_probs, next_prob }: Plain<LensReadout>): LensReadout => ({
  top,
  entropy: numbersOf(entropy),
  top_probs: numbersOf(top_probs),
  next_prob: numbersOf(next_prob),
})

const readLens = (
  lens: Omit<Lens, 'raw' | 'normed'> & Record<'raw' | 'normed', Plain<LensReadout>>,
): Lens => ({ ...lens, raw: readReadout(lens.raw), normed: readReadout(lens.normed) })
