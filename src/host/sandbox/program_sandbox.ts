// Asks a program in a sandbox, and ends it where it takes too long: one deadline for each call, one
// for all calls of a batch.

import type { CallArguments, ProgramAnswer, ProgramChoice } from '../../tasks/task/program.ts'
import { type GuestLine, readLine } from './guest_line.ts'
import type { PythonModules } from './modules/modules.ts'

/** A program, and the function of it that is asked. */
export interface ProgramOrder {
  readonly language: 'javascript' | 'python'
  readonly source: string
  /** The name of its file, for messages. */
  readonly name: string
  /** '' where the program says itself which function is meant, '?' asks what functions there are;
   * of Python alone. */
  readonly entry: string
  /** Parts of its engine by name, where whoever starts the guest has none. */
  /** Of Python's modules those that it gets; their files are among `files`. */
  readonly modules?: PythonModules
  readonly files?: Readonly<Record<string, Uint8Array>>
}

/** What a guest says. */
export interface GuestHearer {
  /** One line of JSON: that it is ready, or an answer. */
  line(text: string): void
  /** It is gone, and nobody has ended it. */
  ended(why: string): void
}

/** A worker or process with one program in it. */
export interface Guest {
  /** Hands over calls as JSON; so many lines come back at most. */
  ask(text: string, lines: number): void
  end(): void
}

/** Starts a guest; its first line says whether it is ready. */
export type StartGuest = (order: ProgramOrder, hearer: GuestHearer) => Guest

export type Limits = Pick<ProgramChoice, 'timeout_ms' | 'batch_timeout_ms' | 'is_fresh'>

/** Pyodide takes seconds to start, and longer on a busy machine. */
const START_MS = { javascript: 20_000, python: 180_000 }
/** After so many calls of a batch that were ended, the rest of it is not asked. */
const MOST_ENDED = 3

/** What a guest has said, one after the other. */
class Conversation {
  readonly guest: Guest
  #said: (GuestLine | string)[] = []
  #wake: () => void = () => {}

  constructor(start: StartGuest, order: ProgramOrder) {
    const hear = (said: GuestLine | string) => {
      this.#said.push(said)
      this.#wake()
    }
    this.guest = start(order, {
      line: (text) => hear(readLine(text) ?? 'it said something that is no line'),
      ended: hear,
    })
  }

  /** The next line; a text is why there is none. Undefined where it takes longer than `ms`. */
  async next(ms: number): Promise<GuestLine | string | undefined> {
    if (this.#said.length === 0) {
      let timer: ReturnType<typeof setTimeout> | undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        timer = setTimeout(resolve, Math.max(0, ms))
      })
      clearTimeout(timer)
      this.#wake = () => {}
    }
    return this.#said.shift()
  }
}

/** One program. Guests come and go: one that was ended is followed by a fresh one. */
export class ProgramSandbox {
  readonly #start: StartGuest
  readonly #order: ProgramOrder
  #talk: Promise<Conversation> | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #isOver = false

  constructor(start: StartGuest, order: ProgramOrder) {
    this.#start = start
    this.#order = order
  }

  /** Calls the function once for each of `args`, in order; one batch after the other. The program
   * starts again for every batch, or for every call where the limits say so. Rejects where no guest
   * can be started. */
  call(args: readonly CallArguments[], limits: Limits): Promise<ProgramAnswer[]> {
    const batch = this.#tail.then(() => this.#batch(args, limits))
    this.#tail = batch.catch(() => {})
    return batch
  }

  /** Ends the guest for good. */
  end(): void {
    this.#isOver = true
    void this.#drop()
  }

  async #batch(args: readonly CallArguments[], limits: Limits): Promise<ProgramAnswer[]> {
    const answers: ProgramAnswer[] = []
    let ended = 0
    let leftMs = limits.batch_timeout_ms
    while (answers.length < args.length) {
      const first = answers.length
      if (ended === MOST_ENDED || leftMs <= 0) {
        answers.push(...args.slice(first).map(() => notAsked(leftMs, limits)))
        break
      }
      const { guest, next } = await this.#ready()
      const calls = args.slice(first).map((own, i) => ({ index: first + i, args: own }))
      // The guest starts the program again for every text.
      for (const asked of limits.is_fresh ? calls.map((call) => [call]) : [calls])
        guest.ask(JSON.stringify(asked, withoutBigInts), asked.length)
      const askedAt = performance.now()
      const left = () => leftMs - (performance.now() - askedAt)
      const failed = await hearAnswers(next, answers, args.length, limits, left)
      leftMs = left()
      if (!failed) continue
      answers.push(failed)
      ended++
      await this.#drop()
      // The next one starts while nobody waits for it.
      if (answers.length === args.length && !this.#isOver) this.#talk = this.#begin()
      this.#talk?.catch(() => {})
    }
    return answers
  }

  async #ready(): Promise<{ guest: Guest; next: Conversation['next'] }> {
    this.#talk ??= this.#begin()
    try {
      const talk = await this.#talk
      return { guest: talk.guest, next: (ms) => talk.next(ms) }
    } catch (error) {
      this.#talk = undefined
      throw error
    }
  }

  async #begin(): Promise<Conversation> {
    const talk = new Conversation(this.#start, this.#order)
    const line = await talk.next(START_MS[this.#order.language])
    if (typeof line === 'object' && 'ready' in line && line.ready) return talk
    talk.guest.end()
    const why = typeof line === 'string' ? line : whyNot(line)
    throw new Error(`the program could not be started: ${why}`)
  }

  async #drop(): Promise<void> {
    const talk = this.#talk
    this.#talk = undefined
    await talk?.then(
      ({ guest }) => guest.end(),
      () => {},
    )
  }
}

/** Adds answers until all are there; what became of the call that ended the guest, where one
 * did. */
async function hearAnswers(
  next: Conversation['next'],
  answers: ProgramAnswer[],
  count: number,
  { timeout_ms }: Limits,
  left: () => number,
): Promise<ProgramAnswer | undefined> {
  while (answers.length < count) {
    const line = await next(Math.min(timeout_ms, left()))
    if (line === undefined)
      return { problem: 'timeout', message: `took longer than ${timeout_ms} ms and was ended` }
    if (typeof line === 'string') return { problem: 'error', message: `was ended: ${line}` }
    if ('ready' in line || line.index !== answers.length)
      return { problem: 'error', message: 'was ended: it answered what was not asked' }
    const { printed } = line
    const told = printed === undefined ? {} : { printed }
    if ('value' in line) answers.push({ value: line.value, ...told })
    else {
      const failed: ProgramAnswer = { problem: 'error', message: line.error, ...told }
      if (line.is_fatal) return failed
      answers.push(failed)
    }
  }
  return undefined
}

const whyNot = (line: GuestLine | undefined) =>
  line === undefined
    ? 'it did not answer'
    : 'error' in line
      ? line.error
      : 'it said something that is no start'

/** Rows of a Parquet file hold whole numbers that JSON does not know. */
const withoutBigInts = (_: string, value: unknown) =>
  typeof value === 'bigint' ? Number(value) : value

const notAsked = (leftMs: number, { batch_timeout_ms }: Limits): ProgramAnswer => ({
  problem: 'timeout',
  message:
    leftMs <= 0
      ? `not asked: its batch took longer than ${batch_timeout_ms} ms`
      : `not asked: ${MOST_ENDED} responses before it were ended`,
})
