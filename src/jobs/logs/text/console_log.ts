// Reads a text of what verl or TRL printed on a console, and picks their lines out of everything
// else.
import { type ImportedLog, LogError, LogRows } from '../base/imported_log.ts'
import { linesOf, type Pieces } from '../base/lines.ts'
import { type Bar, barsIn, findSteps, type Printed, type StepSource } from './printed_steps.ts'
import { dictAt } from './python_literal.ts'
import { loggedNumber, stepOf } from './step_column.ts'
import { continued, plainLine, type VerlLine, verlLine } from './verl_line.ts'

/** Names of which every dict that transformers or TRL logs has one. */
const LOGGED = /^(epoch|loss|reward|train_loss|train_runtime|eval_\w+)$/
/** A dict that is printed over several lines is given up after as many characters. */
const LONGEST_DICT = 100_000
const LOGGING_STEPS = /logging_steps['"]?\s*[=:]\s*['"]?(\d+)\b/

/** How the steps of TRL's entries were found, where it has to be said. */
const FROM: Readonly<Record<StepSource, string | undefined>> = {
  own: undefined,
  bar: 'The entries have no steps; they are those of the progress bar beside them.',
  logging_steps:
    'The entries have no steps; they were counted, times the logging_steps that the text names.',
  counted:
    'The entries have no steps and the text has no progress bar; they were counted from 1. With logging_steps other than 1 each stands for as many steps.',
}

/** verl's bar of the whole training. */
const PROGRESS = /Training Progress:[^|\n]*\|[^|\n]*\|\s*\d+\/(\d+) \[/

/** Gathers the lines of a console one after the other. */
class Console {
  readonly verl: VerlLine[] = []
  readonly printed: Printed[] = []
  bars: Bar[] = []
  logging_steps: number | undefined
  /** Steps that verl is to take. */
  planned: number | undefined
  #line = ''
  #dict = ''

  line(text: string): void {
    const plain = plainLine(text)
    const [, planned] = PROGRESS.exec(plain) ?? []
    if (planned !== undefined) this.planned = Number(planned)
    const whole = this.#line === '' ? undefined : continued(this.#line, plain)
    if (whole !== undefined) {
      this.#line = whole
      return
    }
    this.flush()
    if (verlLine(plain)) this.#line = plain
    else this.#other(plain)
  }

  flush(): void {
    const found = this.#line === '' ? undefined : verlLine(this.#line)
    if (found) this.verl.push(found)
    this.#line = ''
  }

  #other(plain: string): void {
    const [, logging_steps] = LOGGING_STEPS.exec(plain) ?? []
    if (logging_steps !== undefined) this.logging_steps ??= Number(logging_steps)
    const text = this.#dict + plain
    const at = this.#dict === '' ? text.search(/\{\s*(?:['"]|$)/) : 0
    this.#dict = ''
    if (at < 0) {
      this.bars.push(...barsIn(text))
      return
    }
    this.bars.push(...barsIn(text.slice(0, at)))
    const found = dictAt(text, at)
    if (found === 'open') {
      const open = text.slice(at)
      if (open.length < LONGEST_DICT) this.#dict = `${open}\n`
      return
    }
    if (found) this.#entry(found.dict)
    const rest = text.slice(found?.end ?? at + 1)
    if (rest.trim() !== '') this.#other(rest)
  }

  #entry(dict: Readonly<Record<string, unknown>>): void {
    if (!Object.keys(dict).some((name) => LOGGED.test(name))) return
    const own = stepOf(dict.step ?? dict.global_step)
    this.printed.push({ metrics: dict, bars: this.bars, own })
    this.bars = []
  }
}

async function gather(pieces: Pieces): Promise<Console> {
  const found = new Console()
  // A progress bar is drawn over itself.
  for await (const { text } of linesOf(pieces))
    for (const part of text.split('\r')) if (part.trim() !== '') found.line(part)
  found.flush()
  return found
}

function putVerl(rows: LogRows, { verl, planned }: Console): ImportedLog {
  if (planned !== undefined) rows.plan(planned)
  for (const { step, metrics, unread } of verl) {
    for (const [name, value] of metrics) rows.put(name, step, value)
    for (const part of unread) rows.skip(`“${part.slice(0, 60)}” of step ${step}`)
  }
  return rows.finish('verl_console')
}

function putTrl(rows: LogRows, { printed, bars, logging_steps }: Console): ImportedLog {
  const { steps, from } = findSteps(printed, bars, logging_steps)
  for (const [i, { metrics }] of printed.entries()) {
    // The last entry sums the whole training up.
    if ('train_runtime' in metrics) continue
    for (const [name, value] of Object.entries(metrics)) {
      const number = name === 'step' || name === 'global_step' ? undefined : loggedNumber(value)
      if (number === undefined) continue
      rows.putTrl(name, steps[i], number)
    }
  }
  const said = FROM[from]
  if (said !== undefined) rows.remark(said)
  return rows.finish('trl_console')
}

/** Throws LogError where the text has no line of verl and no entry of TRL. */
export async function readConsoleLog(pieces: Pieces): Promise<ImportedLog> {
  const found = await gather(pieces)
  const rows = new LogRows()
  if (found.verl.length > 0) return putVerl(rows, found)
  if (found.printed.length > 0) return putTrl(rows, found)
  throw new LogError(
    "No metrics were found in the text. Looked for the lines of verl (“step:1 - name:value - …”) and the dicts of TRL and transformers (“{'loss': 0.5, …, 'epoch': 0.1}”).",
  )
}
