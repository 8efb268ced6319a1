// Chooses axis domains that move in steps, so that the drawn axes stay still while lines grow
// inside them.

/** A closed interval of an axis, low end first. */
export type Domain = readonly [number, number]

const NICE = [1, 2, 2.5, 5, 10] as const

/** Smallest of 1, 2, 2.5, 5 × 10^k that is at least `value`; 1 for anything not positive and
 * finite. */
export function niceCeil(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = NICE.find((f) => f * power >= value * (1 - 1e-12)) ?? 10
  return factor * power
}

/** Right end of the step axis: grows by at least 25 % once `lastStep` passes `current`, never past
 * `totalSteps` while the run stays within it. Starts at 20 steps. */
export function growSteps(current: number, lastStep: number, totalSteps: number): number {
  let end = current > 0 ? current : 20
  while (end < lastStep) {
    const unit = niceCeil(end / 20)
    end = Math.ceil((end * 1.25) / unit) * unit
  }
  return totalSteps >= lastStep && totalSteps > 0 ? Math.min(end, totalSteps) : end
}

/** The next smaller of 1, 2, 2.5, 5 × 10^k. */
function niceBelow(unit: number): number {
  const power = 10 ** Math.floor(Math.log10(unit * (1 + 1e-12)))
  const at = NICE.findIndex((factor) => factor * power >= unit * (1 - 1e-12))
  return at > 0 ? NICE[at - 1] * power : power / 2
}

/** More of an axis than this is left empty only where closer ticks would be too many. */
const MOST_EMPTY = 0.25

/** Of ten, that is a number. */
const MOST_POWER = 308
const HUGE = 5e307

/** Ticks at a nice distance, about `count` of them, at most two more, covering [min, max]. A flat
 * interval is opened around its value; an empty one (min > max) becomes [0, 1]. */
export function niceTicks(min: number, max: number, count: number): number[] {
  let [low, high] = min <= max ? [min, max] : [0, 1]
  // An axis longer than any number has no places.
  if (!Number.isFinite(high - low)) [low, high] = [-HUGE, HUGE]
  // Flat, or so narrow that ticks rounded to 12 digits would coincide.
  if (high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high))) {
    const pad = Math.abs(low) * 0.1 || 1
    low = low >= 0 ? Math.max(0, low - pad) : low - pad
    high += pad
  }
  const ends = (unit: number) => {
    const first = Math.floor(low / unit + 1e-9)
    const last = Math.ceil(high / unit - 1e-9)
    return { unit, first, last, empty: 1 - (high - low) / ((last - first) * unit) }
  }
  let found = ends(niceCeil((high - low) / Math.max(1, count - 1)))
  for (let next = found; found.empty > MOST_EMPTY; ) {
    next = ends(niceBelow(next.unit))
    if (next.last - next.first > count + 1) break
    if (next.empty < found.empty) found = next
  }
  const { unit, first, last } = found
  const ticks = Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * unit).toPrecision(12)),
  )
  return ticks.filter(Number.isFinite)
}

/** Whole-number ticks inside a step axis, at multiples of their distance. */
export function stepTicks([low, high]: Domain, count: number): number[] {
  const unit = Math.max(1, Math.ceil(niceCeil((high - low) / Math.max(1, count))))
  const first = Math.ceil(low / unit)
  return Array.from({ length: Math.floor(high / unit) - first + 1 }, (_, i) => (first + i) * unit)
}

const tenTimes = (factor: number, power: number) => Number(`${factor}e${power}`)

/** 1, 2 and 5 times the powers of ten from 10^first to 10^last. */
const oneTwoFive = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) =>
    [1, 2, 5].map((factor) => tenTimes(factor, first + i)),
  ).flat()

/** Ticks of a logarithmic axis that cover [min, max], both above 0: powers of ten, about `count` of
 * them at most; 1, 2 and 5 times those where the values span less than two, and even ones where
 * they do not even reach fourfold. Without a positive interval, [1, 10]. */
export function logTicks(min: number, max: number, count: number): number[] {
  if (!(min > 0) || !(max >= min) || !Number.isFinite(max)) return [1, 10]
  const even = niceTicks(min, max, count)
  if (max / min < 4 && even[0] > 0) return even
  const first = Math.floor(Math.log10(min))
  const last = Math.ceil(Math.log10(max))
  if (max / min < 100) {
    const all = oneTwoFive(first - 1, last + 1)
    let low = all.findLastIndex((tick) => tick <= min)
    let high = all.findIndex((tick) => tick >= max)
    if (low === high) [low, high] = [low - 1, high + 1]
    return all.slice(low, high + 1)
  }
  const every = Math.ceil((last - first) / Math.max(1, count))
  const [from, to] = [Math.floor(first / every), Math.ceil(last / every)]
  return Array.from({ length: to - from + 1 }, (_, i) =>
    tenTimes(1, Math.min(MOST_POWER, (from + i) * every)),
  )
}

/** Ticks inside a logarithmic step axis; those of an even axis where no two of 1, 2, 5 × 10^k lie
 * in it. */
export function logStepTicks([low, high]: Domain, count: number): number[] {
  const inside = (ticks: readonly number[]) => ticks.filter((t) => t >= low && t <= high)
  const last = Math.ceil(Math.log10(high))
  const powers = inside(Array.from({ length: last + 1 }, (_, power) => tenTimes(1, power)))
  const ticks = inside(oneTwoFive(0, last))
  if (ticks.length < 2) return stepTicks([low, high], count)
  return ticks.length <= count + 2 || powers.length < 2 ? ticks : powers
}
