// Finds the settings of a trace of BuPO's fork: in fields of its own, in its note, in what it
// logged, and in the arguments of its job.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CaseError } from '../base/fields.ts'

/** How a sentence says what a number is. */
const IN_WORDS: Readonly<Record<string, RegExp>> = {
  entropy_coeff: /entropy (?:bonus|coefficient)(?: of)?[ =:]+(\d[\d.]*(?:e-?\d+)?)/i,
  kl_loss_coef: /KL (?:loss|coefficient)(?: of)?[ =:]+(\d[\d.]*(?:e-?\d+)?)/i,
}

type Values = ReadonlyMap<string, unknown>

/** verl's own names, with their place behind a dot where the last part alone would be ambiguous. */
export class TraceSettings {
  readonly #own: Values
  readonly #logged: Values
  readonly #job: Values
  readonly #note: string

  /** `trace`: its parsed JSON; `job`: the folder that it was recorded from, if there is one. */
  constructor(trace: Readonly<Record<string, unknown>>, job: string | undefined) {
    const { steps, note, ...own } = trace
    this.#note = typeof note === 'string' ? note : ''
    const script = job && join(job, 'run_bupo.sh')
    const told = script && existsSync(script) ? readFileSync(script, 'utf8') : ''
    this.#own = flattened(own)
    this.#logged = logged(steps)
    this.#job = argumentsOf(told)
  }

  /** Every setting by its place: those of the trace itself, and the arguments of its job. */
  names(): string[] {
    return [...new Set([...this.#own.keys(), ...this.#job.keys()])]
  }

  /** The value of a name like `actor.clip_ratio_c`: the trace's, else what its note says of it,
   * else what its metrics show, because a job can be started with further arguments, else the
   * job's. Throws CaseError where the trace contradicts its metrics. */
  find(name: string): unknown {
    const said = settingIn(this.#own, name) ?? this.#noted(name)
    const shown = settingIn(this.#logged, name)
    if (said !== undefined && shown !== undefined && said !== shown)
      throw new CaseError(`${name}: the trace says ${said}, and its metrics are those of ${shown}`)
    return said ?? shown ?? settingIn(this.#job, name)
  }

  number(name: string, fallback?: number): number {
    const value = this.find(name) ?? fallback
    if (typeof value !== 'number') throw new CaseError(`${name}: expected a number, got ${value}`)
    return value
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.find(name) ?? fallback
    if (typeof value !== 'boolean')
      throw new CaseError(`${name}: expected true or false, got ${value}`)
    return value
  }

  /** One of `options`; a note may hold its word alone. */
  choice<const T extends string>(name: string, options: readonly T[], fallback: T): T {
    const own = settingIn(this.#own, name) ?? this.#noted(name)
    // Words that no sentence has by chance.
    const words = options.filter(
      (word) => /[-_]/.test(word) && new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(this.#note),
    )
    const noted = own === undefined && words.length === 1 ? words[0] : undefined
    const value = noted ?? this.find(name) ?? fallback
    if (!options.includes(value as T))
      throw new CaseError(`${name}: expected one of ${options.join(', ')}, got ${value}`)
    return value as T
  }

  /** Layers and steps of the inner phase. A note may count both: "phase 1 (…, internal_layer 1) is
   * steps 1-3". */
  inner(): { readonly layer: number; readonly steps: number } {
    const noted = /internal_layer (\d+)\)? is steps \d+\s*[-–]\s*(\d+)/.exec(this.#note)
    const isOn = this.flag('actor.internal_policy_interative', true)
    const own = settingIn(this.#own, 'iterative_steps')
    const steps = own ?? (noted ? Number(noted[2]) : this.number('actor.iterative_steps'))
    const layer = noted ? Number(noted[1]) : this.number('actor.internal_layer')
    return { layer: layer + 1, steps: isOn ? Number(steps) : 0 }
  }

  #noted(name: string): unknown {
    const last = name.slice(name.lastIndexOf('.') + 1)
    // After an equals sign or a colon, or a number or a mean right behind the name.
    const value = '\\s*[=:]\\s*([^\\s,;()]+)|\\s+(-?[\\d.]+(?:e-?\\d+)?|(?:token|seq)-[\\w-]+)\\b'
    const found = new RegExp(`\\b${last}\\b(?:${value})`, 'i').exec(this.#note)
    if (found) return scalarOf(found[1] ?? found[2])
    const words = IN_WORDS[last]?.exec(this.#note)
    return words ? Number(words[1]) : undefined
  }
}

/** What the metrics of the first step say of the settings. */
function logged(steps: unknown): Values {
  const [first] = Array.isArray(steps) ? steps : []
  const coef = first?.logged?.['actor/kl_coef']
  const hasKl = typeof coef === 'number' || typeof first?.updates?.[0]?.kl_loss === 'number'
  return new Map<string, unknown>([
    ...(hasKl ? [['actor.use_kl_loss', true] as const] : []),
    ...(typeof coef === 'number' ? [['actor.kl_loss_coef', coef] as const] : []),
  ])
}

/** Nested records as dotted names; a list of `name=value`, or a line of them, as what it says. */
function flattened(value: unknown, at = ''): Map<string, unknown> {
  const found = new Map<string, unknown>()
  if (typeof value === 'string' && value.includes('='))
    return argumentsOf(value.replace(/\s+(?=['"]?\+{0,2}[a-z_][\w.]*=)/g, '\n'))
  const isTold = Array.isArray(value) && value.some((x) => typeof x === 'string' && x.includes('='))
  if (isTold) return argumentsOf(value.join('\n'))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return at ? found.set(at, value) : found
  for (const [name, x] of Object.entries(value))
    for (const [path, one] of flattened(x, at ? `${at}.${name}` : name)) found.set(path, one)
  return found
}

/** Arguments of Hydra, as they stand in a script. The last of a name counts. */
function argumentsOf(text: string): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [, name, value] of text.matchAll(/^\s*['"]?\+{0,2}([a-z_][\w.]*)=(.*?)['"]?\s*$/gm))
    found.set(name, scalarOf(value))
  return found
}

function scalarOf(text: string): unknown {
  const plain = text.replace(/^\\?["']|\\?["']$/g, '')
  if (/^(true|false)$/i.test(plain)) return plain.toLowerCase() === 'true'
  if (/^(null|none)$/i.test(plain)) return null
  if (/^\[.*\]$/.test(plain))
    return plain
      .slice(1, -1)
      .split(',')
      .map((x) => scalarOf(x.trim()))
  return plain !== '' && Number.isFinite(Number(plain)) ? Number(plain) : plain
}

/** By the whole name, by its end, or by its last part alone where nothing else ends so. */
function settingIn(values: ReadonlyMap<string, unknown>, name: string): unknown {
  const last = name.slice(name.lastIndexOf('.') + 1)
  for (const wanted of [name, last]) {
    const ends = [...values].filter(([path]) => path === wanted || path.endsWith(`.${wanted}`))
    const actor = ends.filter(([path]) => !/(^|\.)(critic|ref|rollout)\./.test(path))
    const [first] = actor.length > 0 ? actor : ends
    if (first) return first[1]
  }
  return undefined
}
