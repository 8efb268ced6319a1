// Prints progress on stderr: one line that redraws itself for a person, a line every ten steps for
// a log.

import { plainLine } from './terminal.ts'

const BAR = 24
const LOG_EVERY = 10

/** The width of the terminal on stderr, or 0 where stderr is no terminal. The launcher passes it
 * on, as it filters stderr. */
function columns(): number {
  if (process.env.LAB_COLUMNS !== undefined) return Number(process.env.LAB_COLUMNS)
  return process.stderr.isTTY ? process.stderr.columns : 0
}

export interface ProgressLine {
  /** Steps done, of all phases together. */
  readonly step: number
  readonly totalSteps: number
  /** e.g. "phase 2/3 inner layer". */
  readonly phase: string
  readonly metrics: Readonly<Record<string, number>>
}

/** The one number that says how a step went, under the name a person would use. */
const HEADLINES = [
  ['critic/score/mean', 'reward'],
  ['train/loss', 'loss'],
  ['reward_model/loss', 'loss'],
  ['preference/loss', 'loss'],
  ['distillation/loss', 'loss'],
] as const

/** Makes a function that shows one step; `nowMs` is a clock. Neither function throws: what cannot
 * be shown ends no run. */
export function createProgress(
  write: (text: string) => void = (text) => process.stderr.write(text),
  width = columns(),
  nowMs: () => number = () => performance.now(),
): { show(line: ProgressLine): void; end(): void } {
  const start = nowMs()
  let last: ProgressLine | undefined
  const attempt = (work: () => void) => {
    try {
      work()
    } catch {
      // A terminal that has gone away, say.
    }
  }
  const show = (line: ProgressLine) => {
    last = line
    const text = plainLine(describe(line, nowMs() - start))
    if (width > 0) write(`\r\x1b[K${text.slice(0, width - 1)}`)
    else if (line.step % LOG_EVERY === 0 || line.step === line.totalSteps) write(`${text}\n`)
  }
  return {
    show: (line) => attempt(() => show(line)),
    end: () => attempt(() => width > 0 && last && write('\n')),
  }
}

function describe({ step, totalSteps, phase, metrics }: ProgressLine, elapsedMs: number): string {
  const share = totalSteps > 0 ? step / totalSteps : 0
  const done = Math.min(BAR, Math.max(0, Math.round(BAR * share)))
  const bar = '█'.repeat(done) + '░'.repeat(BAR - done)
  const headline = HEADLINES.find(([name]) => name in metrics)
  const number = headline ? `  ${headline[1]} ${metrics[headline[0]].toFixed(3)}` : ''
  const seconds = elapsedMs / 1000
  const left = step > 0 ? (seconds / step) * Math.max(0, totalSteps - step) : 0
  return `${bar} ${step}/${totalSteps}  ${phase}${number}  ${clock(seconds)} + ${clock(left)}`
}

function clock(seconds: number): string {
  const s = Math.round(seconds)
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`
}
