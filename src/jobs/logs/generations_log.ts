// Reads verl's validation generations: a folder with a file <step>.jsonl for each validation
// (trainer.validation_data_dir), and in it a line for each answer with input, output, gts, score,
// step and whatever the reward function returned. Source: verl verl/trainer/ppo/ray_trainer.py
// RayPPOTrainer._write_generations, v0.7.0 to main.

import { isObject } from '../../formats/json.ts'
import type { Generation } from '../../host/protocol/results.ts'
import {
  nameValidationMetrics,
  processValidationMetrics,
  type Variable,
} from '../../rl/math/validation_metrics.ts'
import { type ImportedLog, isStep, type LogFile, LogRows } from './base/imported_log.ts'
import { linesOf, numberOf, parsePython } from './base/lines.ts'

/** Characters of a kept text. */
const LONGEST_TEXT = 8000
/** Answers of a validation that are counted: far more than verl's own sets have. */
const MOST_ANSWERS = 200_000
/** Where no column says which data a row is of. */
const SOURCE = 'validation'
/** Columns that are no metric. */
const NO_METRICS = new Set(['input', 'output', 'gts', 'step', 'data_source', 'request_id'])

/** Whether a line is one of such a file. */
export const isGeneration = (line: unknown): line is Readonly<Record<string, unknown>> =>
  isObject(line) && typeof line.input === 'string' && typeof line.output === 'string'

/** What the page shows of a line. Whether an answer was sampled or cut off is not in it. */
export const generationOf = (
  line: Readonly<Record<string, unknown>>,
  score: number,
): Generation => ({
  input: textOf(line.input),
  output: textOf(line.output),
  gts: textOf(line.gts ?? ''),
  score,
})

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}…` : text
}

/** Reads the files of a folder, each with its name. Throws LogError where no line is an answer. */
export async function readGenerationsLog(files: readonly LogFile[]): Promise<ImportedLog> {
  const rows = new LogRows()
  /** The file that a step was read from. */
  const owners = new Map<number, string>()
  const metrics: (readonly [step: number, values: Readonly<Record<string, number>>])[] = []
  for (const file of inOrder(files))
    for (const [step, answers] of await readFile(file, owners, rows)) {
      owners.set(step, file.name)
      metrics.push([step, answers.metrics()])
      answers.tell(step, rows)
    }
  for (const [step, values] of metrics.sort(([a], [b]) => a - b))
    for (const [name, value] of Object.entries(values)) rows.put(name, step, value)
  return rows.finish('generations')
}

/** The step that a file is named after. */
const stepOfName = (name: string): number | undefined => {
  const [, digits] = /(?:^|\/)(\d+)\.jsonl$/i.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const inOrder = (files: readonly LogFile[]): LogFile[] =>
  [...files].sort((a, b) => (stepOfName(a.name) ?? 0) - (stepOfName(b.name) ?? 0))

/** The answers of a file by step; those of a step that an earlier file has are left out. */
async function readFile(
  { name, pieces }: LogFile,
  owners: ReadonlyMap<number, string>,
  rows: LogRows,
): Promise<ReadonlyMap<number, Answers>> {
  const found = new Map<number, Answers>()
  const seen = new Set<number>()
  let lines = 0
  for await (const { text, number, isLast } of linesOf(pieces())) {
    lines++
    const line = parsePython(text)
    if (isLast && line === undefined && text !== '') rows.cut()
    const why = whyNoAnswer(line)
    if (why !== undefined) {
      rows.skip(`line ${number} of ${name} (${why})`)
      continue
    }
    const answer = line as Readonly<Record<string, unknown>>
    const step = isStep(answer.step) ? answer.step : stepOfName(name)
    if (step === undefined) {
      rows.skip(`line ${number} of ${name} (no step)`)
      continue
    }
    const owner = owners.get(step)
    if (owner !== undefined) {
      if (!seen.has(step))
        rows.remark(`${name} is of step ${step}, as ${owner} is, and was left out.`)
      seen.add(step)
      continue
    }
    const answers = found.get(step) ?? new Answers()
    found.set(step, answers)
    answers.add(answer)
    rows.keep(step, generationOf(answer, Number(answer.score)))
  }
  if (lines === 0) rows.remark(`${name} is empty.`)
  return found
}

/** The first column that a line lacks; undefined for one with all that is needed. */
function whyNoAnswer(line: unknown): string | undefined {
  if (!isObject(line)) return 'no JSON object'
  const missing = ['input', 'output', 'score'].find((name) => line[name] === undefined)
  if (missing !== undefined) return `no ${missing}`
  if (!isGeneration(line)) return 'input and output are no texts'
  const score = numberOf(line.score)
  return score !== undefined && Number.isFinite(score) ? undefined : 'score is no number'
}

/** The numbers of one validation. */
class Answers {
  readonly #dataSources: string[] = []
  readonly #uids: string[] = []
  readonly #columns = new Map<string, (number | string)[]>()
  #count = 0

  add(line: Readonly<Record<string, unknown>>): void {
    if (this.#count++ >= MOST_ANSWERS) return
    this.#dataSources.push(typeof line.data_source === 'string' ? line.data_source : SOURCE)
    this.#uids.push(digestOf(String(line.input)))
    // verl logs the score as `reward` too.
    for (const [name, value] of Object.entries({ reward: line.score, ...line })) {
      const number = name === 'pred' ? digestOf(String(value)) : numberOf(value)
      if (number === undefined || NO_METRICS.has(name)) continue
      const column = this.#columns.get(name) ?? []
      this.#columns.set(name, column)
      column.push(number)
    }
  }

  /** verl's own metrics of them, of columns that every line has. Prompts are told apart by their
   * text. */
  metrics(): Record<string, number> {
    const whole = [...this.#columns].filter(([, { length }]) => length === this.#uids.length)
    const samples = { data_sources: this.#dataSources, sample_uids: this.#uids }
    const variables = Object.fromEntries(whole) as Record<string, Variable>
    return nameValidationMetrics(processValidationMetrics({ ...samples, variables }))
  }

  tell(step: number, rows: LogRows): void {
    if (this.#count > MOST_ANSWERS)
      rows.remark(
        `Of the ${this.#count} answers of step ${step} the first ${MOST_ANSWERS} were counted.`,
      )
    const gaps = [...this.#columns].find(([, { length }]) => length < this.#uids.length)
    if (gaps) rows.remark(`Some answers of step ${step} have no ${gaps[0]}; it was left out there.`)
  }
}

/** A short name of a text (64 bits of FNV-1a, and its length), so that long prompts need no
 * memory. */
function digestOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b)
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}${text.length}`
}
