// Gathers a foreign log row by row: columns as the page keeps them, and sentences about what was
// left out.

import { appendRow, type Series } from '../../../host/columns/series.ts'
import { thinnedOf, thinnedWords } from '../../../host/columns/thinning.ts'
import type { Generation } from '../../../host/protocol/results.ts'
import type { KeptItem } from '../../../record/run/kept.ts'
import { emptyKept, keepGenerations } from '../../../record/run/kept_run.ts'
import { withoutHidden } from '../../../rl/fields/hidden.ts'
import type { Pieces } from './lines.ts'
import { LOG_KINDS, type LogKind } from './log_kinds.ts'
import { labMetrics, withoutPrefixes, withPlainNames } from './trl_names.ts'

/** A file of a log; its bytes are read when `pieces` is called. */
export interface LogFile {
  readonly name: string
  readonly pieces: () => Pieces
}

/** A log that was read. */
export interface ImportedLog {
  readonly kind: LogKind
  /** Its name among several of one file or folder; '' where it is alone. */
  readonly run: string
  /** What a column of the log says of it, where it has one. */
  readonly seed: number | undefined
  readonly group: string | undefined
  readonly series: ReadonlyMap<string, Series>
  /** By the lab's name of a column what the log calls it, where that is another. */
  readonly names: ReadonlyMap<string, string>
  /** Answers to held-out prompts, by step. */
  readonly generations: readonly KeptItem<readonly Generation[]>[]
  /** The last step. */
  readonly step: number
  /** What was left out or changed, a sentence each. */
  readonly remarks: readonly string[]
  /** As many steps as its trainer was to take, where it says so. */
  readonly planned: number | undefined
  /** Its file ends in the middle of something, or before the last planned step. */
  readonly isCut: boolean
}

const CUT = 'The end of the file is cut off; what is before it was read.'

/** A file that is no log, in a sentence. */
export class LogError extends Error {
  override readonly name = 'LogError'
}

/** More metrics than any trainer reports; each is a column of memory. */
const MAX_METRICS = 1000
const MAX_NAME = 200
const MAX_REMARKS = 8
/** Columns that a remark names. */
const MAX_NAMED = 8
/** Answers of one step that can be read later. */
const MAX_ANSWERS = 128
/** The limit of all kept texts together. */
const MAX_CHARACTERS = 32_000_000

/** Columns that name the runs of one setting. */
const GROUP = /(?:^|[/._])(?:run_|wandb_)?group(?:_name)?$/i
const SEED = /(?:^|[/._])seed$/i

/** The only value; undefined for several, or none. */
const theOnly = <T>(values: Iterable<T>): T | undefined => {
  const [first, ...others] = new Set(values)
  return others.length === 0 ? first : undefined
}

/** The whole number that a column of seeds holds from end to end. */
function seedOf(series: ReadonlyMap<string, Series>): number | undefined {
  const named = [...series].filter(([name]) => SEED.test(name))
  const seed = theOnly(
    named.flatMap(([, { values, length }]) => Array.from(values.subarray(0, length))),
  )
  return isStep(seed) ? seed : undefined
}

/** What the first line of an imported run says of it. */
interface Told {
  readonly kind: LogKind
  readonly remarks: readonly string[]
  readonly names?: Readonly<Record<string, string>>
  readonly planned?: number
}

const VALIDATED = /^val-|(?:^|[/_])eval/

const many = (count: number, one: string, more: string) => `${count} ${count === 1 ? one : more}`

/** Gathers rows. Memory is bounded: long columns are thinned as those of a run of the page. */
export class LogRows {
  readonly #series = new Map<string, Series>()
  #told: Told | undefined
  readonly #leftOut = new Set<string>()
  #unread = 0
  #firstUnread = ''
  readonly #generations = new Map<number, Generation[]>()
  #characters = 0
  readonly #remarks = new Set<string>()
  readonly #groups = new Set<string>()
  #isCut = false
  #planned: number | undefined
  #gaps = 0
  #words = 0
  #empty = 0
  /** Of each metric, how often its steps went back, and how often a step had another value
   * before. */
  readonly #back = new Map<string, number>()
  readonly #again = new Map<string, number>()
  /** By the lab's name of a metric, the first of TRL's that it came by. */
  readonly #theirs = new Map<string, string>()
  #step = 0

  /** One value of a metric; one that is not finite, or null, is a gap. A step that the metric has
   * had replaces it and all that came after. */
  put(name: string, step: number, said: number | null): void {
    const value = said ?? Number.NaN
    const metric = withoutHidden(name).slice(0, MAX_NAME)
    const column = this.#series.get(metric)
    if (!column && this.#series.size >= MAX_METRICS) {
      this.#leftOut.add(metric)
      return
    }
    if (column && column.length > 0 && step <= column.steps[column.length - 1]) {
      const last = column.length - 1
      // Several evaluations of one step each log its epoch.
      if (step === column.steps[last] && Object.is(value, column.values[last])) return
      const counts = step === column.steps[last] ? this.#again : this.#back
      counts.set(metric, (counts.get(metric) ?? 0) + 1)
      column.length = column.after(step - 1)
    }
    if (said === null) this.#empty++
    else if (!Number.isFinite(value)) this.#gaps++
    appendRow(this.#series, metric, step, Number.isFinite(value) ? value : Number.NaN)
    this.#step = Math.max(this.#step, step)
  }

  /** What is no number where the metric has numbers: a gap. */
  putWords(name: string, step: number): void {
    const before = this.#gaps
    this.put(name, step, Number.NaN)
    this.#words += this.#gaps - before
    this.#gaps = before
  }

  has(name: string): boolean {
    return this.#series.has(name)
  }

  /** One value of TRL's, under the names of the lab; two names of TRL's that are one here, older
   * and newer, each have a value in every entry. */
  putTrl(name: string, step: number, value: number): void {
    for (const [metric, converted] of labMetrics(name, value)) {
      const first = this.#theirs.get(metric) ?? name
      this.#theirs.set(metric, first)
      if (first === name) this.put(metric, step, converted)
      else
        this.remark(
          `“${first}” and “${name}” are the same metric here, ${metric}: “${name}” was left out.`,
        )
    }
  }

  /** The file is an imported run of an earlier import: what was said of it then. */
  tell(told: Told): void {
    this.#told = told
  }

  get isTold(): boolean {
    return this.#told !== undefined
  }

  get isEmpty(): boolean {
    return this.#series.size === 0
  }

  /** A text in a column of a step. */
  text(name: string, value: unknown): void {
    if (GROUP.test(name) && typeof value === 'string' && value !== '')
      this.#groups.add(withoutHidden(value).slice(0, MAX_NAME))
  }

  /** Columns that were not read, because what they hold are no numbers. */
  notNumbers(names: ReadonlySet<string>): void {
    const left = [...names].filter(
      (name) => !this.#series.has(name) && !(GROUP.test(name) && this.#groups.size === 1),
    )
    if (left.length > 0)
      this.remark(
        `Not read, because it is no number: ${left.slice(0, MAX_NAMED).join(', ')}${left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : ''}.`,
      )
  }

  /** An answer to a held-out prompt after a step. Of many only the first are kept. */
  keep(step: number, answer: Generation): void {
    const own = this.#generations.get(step) ?? []
    const { length } = answer.input + answer.output + answer.gts
    if (own.length >= MAX_ANSWERS || this.#characters + length > MAX_CHARACTERS) return
    this.#characters += length
    this.#generations.set(step, own)
    own.push(answer)
    this.#step = Math.max(this.#step, step)
  }

  /** As many of the kept answers as a run of the page keeps. */
  #keptGenerations(): readonly KeptItem<readonly Generation[]>[] {
    const kept = emptyKept()
    const rising = [...this.#generations].sort(([a], [b]) => a - b)
    for (const [step, answers] of rising) keepGenerations(kept, step, answers)
    return kept.generations.items
  }

  /** Something else that was left out, in a sentence. Of many only the first are said. */
  remark(sentence: string): void {
    if (this.#remarks.size < MAX_REMARKS) this.#remarks.add(sentence)
  }

  /** A part of the file that cannot be read, e.g. 'line 7'. */
  skip(where: string): void {
    if (this.#unread++ === 0) this.#firstUnread = where
  }

  /** The trainer says that it is to take as many steps. */
  plan(steps: number): void {
    this.#planned = steps
  }

  /** The file ends in the middle of something. */
  cut(): void {
    this.#isCut = true
  }

  /** Throws LogError where nothing was gathered. */
  finish(kind: LogKind, run = ''): ImportedLog {
    if (this.#series.size === 0)
      throw new LogError(
        [
          `Nothing of ${LOG_KINDS[kind]} was found in the file${this.#unread > 0 ? `: ${this.#firstUnread} is none of it` : ''}.`,
          ...this.#remarks,
        ].join(' '),
      )
    const [back, again] = [this.#back, this.#again].map((counts) => Math.max(0, ...counts.values()))
    const twice = [...this.#again.keys()]
    const named = twice.slice(0, MAX_NAMED).join(', ')
    const remarks: (string | false)[] = [
      ...(this.#told?.remarks ?? []),
      this.#unread > 0 &&
        `${this.#unread} ${this.#unread === 1 ? 'part of the file could not be read and was' : 'parts of the file could not be read and were'} left out, the first of them ${this.#firstUnread}.`,
      ...this.#remarks,
      this.#isCut && CUT,
      this.#gaps > 0 &&
        `${many(this.#gaps, 'value is', 'values are')} not finite and shown as gaps.`,
      this.#words > 0 &&
        `${many(this.#words, 'value is', 'values are')} no number and shown as ${this.#words === 1 ? 'a gap' : 'gaps'}.`,
      this.#empty > 0 &&
        `${many(this.#empty, 'value is', 'values are')} missing or not finite (null in the file) and shown as ${this.#empty === 1 ? 'a gap' : 'gaps'}.`,
      back > 0 &&
        `Steps went back ${back === 1 ? 'once' : `${back} times`}, as where a run was resumed: the later values replace the earlier ones from there on.`,
      again > 0 &&
        (twice.every((name) => VALIDATED.test(name))
          ? `${many(again, 'step has', 'steps have')} two values of ${named}, as where a validation was done again; the later one is kept.`
          : `${many(again, 'step has', 'steps have')} two values of ${named}; the later one is kept.`),
      this.#leftOut.size > 0 &&
        `Only the first ${MAX_METRICS} metrics were read, ${this.#leftOut.size} were left out.`,
      thinnedWords(thinnedOf(this.#series.values())),
    ]
    const renamed = [...this.#theirs].filter(([ours, theirs]) => ours !== `trl/${theirs}`)
    const names = new Map([...Object.entries(this.#told?.names ?? {}), ...renamed])
    const planned = this.#told?.planned ?? this.#planned
    return {
      kind: this.#told?.kind ?? kind,
      run: run.slice(0, MAX_NAME),
      seed: seedOf(this.#series),
      group: theOnly(this.#groups),
      ...withPlainNames(withoutPrefixes({ series: this.#series, names })),
      generations: this.#keptGenerations(),
      step: this.#step,
      remarks: remarks.flatMap((sentence) => sentence || []),
      planned,
      isCut: remarks.includes(CUT) || this.#step < (planned ?? 0),
    }
  }
}

/** Whether a number can be a step. */
export const isStep = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
