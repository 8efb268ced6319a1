// Tries what a person opens and writes, any folder and any text: patterns of the folder's tokenizer
// first run on the text in a thread that can be ended, so that this one never hangs in them.
import type { PatternsAlone } from './patterns_alone.ts'

export interface TrialRequest {
  readonly json: string
  readonly text: string
}

/** What is needed of a worker. It answers every request, after all before it. */
export interface TrialPort {
  postMessage(request: TrialRequest): void
  terminate(): void
  onmessage: ((event: MessageEvent) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
}

/** Far above what any text takes with every pattern that is in use. */
const MOST_MS = 10_000

/** Tries texts, one after the other; the thread lives from one to the next. */
export class TextTrial {
  readonly #open: () => TrialPort
  #port: TrialPort | undefined

  constructor(open: () => TrialPort) {
    this.#open = open
  }

  /** Rejects with RangeError, naming the patterns, where they do not end. What has none is not
   * tried. */
  async try(patterns: PatternsAlone | undefined, text: string): Promise<void> {
    if (!patterns) return
    const { json, expressions } = patterns
    this.#port ??= this.#open()
    const port = this.#port
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => {
        clearTimeout(timer)
        port.terminate()
        this.#port = undefined
        reject(new RangeError(why))
      }
      const timer = setTimeout(
        () =>
          fail(
            `${expressions.join(' and ')}: took longer than ${MOST_MS / 1000} s on one text and was ended. A pattern there backtracks without end; use another tokenizer.`,
          ),
        MOST_MS,
      )
      port.onmessage = () => {
        clearTimeout(timer)
        resolve()
      }
      port.onerror = ({ message }) => fail(`The text could not be tried: ${message || 'no worker'}`)
      port.postMessage({ json, text })
    })
  }
}
