// Has data files read for the page by a worker, with progress, and ended by a signal.

import type { ContentFile } from '../../document/content/content.ts'
import type { Bundle } from '../../host/content/bundle.ts'
import { ownTokenizer } from '../../tasks/data/data_tokenizer.ts'
import type { DataPlan, Prepared } from '../../tasks/data/plan.ts'
import type { DataRow } from '../../tasks/data/rows/row.ts'
import { BadRowsError } from '../../tasks/data/table/bad_rows.ts'
import { DataFileError } from '../../tasks/data/table/data_file.ts'
import { characters } from '../../tasks/tokenizers/characters.ts'
import { loadTokenizer } from '../../tasks/tokenizers/load_tokenizer.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import type {
  DataHead,
  DataPort,
  DataReport,
  DataRequest,
  DataSource,
  MadeTokenizer,
} from '../connection/data_messages.ts'

/** What a person sees of the work, and how it is ended. */
export interface DataWatch {
  readonly onProgress?: (share: number) => void
  readonly signal?: AbortSignal
}

/** A reader that says nothing for so long has met something that does not end. It tells its
 * progress far more often. */
const SILENT_MS = 30_000

/** Why a reader was ended; `patterns`: expressions of a tokenizer that it may have been in. */
const silentWords = (patterns: readonly string[]): string => {
  const why =
    patterns.length === 0
      ? 'Take a part of the file.'
      : `A pattern that backtracks without end does this; the tokenizer has ${patterns.join(' and ')}. Use another tokenizer.`
  return `The reading took ${SILENT_MS / 1000} s without progress and was ended. ${why}`
}

/** Calls `onSilence` once nothing was heard for long. */
class Silence {
  readonly #onSilence: () => void
  #timer: ReturnType<typeof setTimeout>

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence
    this.#timer = setTimeout(onSilence, SILENT_MS)
  }

  heard(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onSilence, SILENT_MS)
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

export const sourceOf = ({ name, hash, bytes }: ContentFile): DataSource => ({
  name,
  hash,
  blob: new Blob([bytes]),
})

/** One worker at a time, which keeps the tables of the files that it has read; one that was ended
 * is followed by another. */
export class DataWork {
  readonly #open: () => DataPort
  #port: DataPort | undefined
  #tail: Promise<unknown> = Promise.resolve()

  constructor(open: () => DataPort) {
    this.#open = open
  }

  /** What a file holds. Rejects with DataFileError. */
  async open(source: DataSource, watch: DataWatch = {}): Promise<DataHead> {
    let head: DataHead | undefined
    await this.#ask({ kind: 'open', source }, watch, (report) => {
      if (report.kind === 'opened') head = report.head
      return report.kind === 'opened'
    })
    if (!head) throw new Error('the worker said nothing')
    return head
  }

  /** What a bundle holds. Rejects with DataFileError. */
  async unpack(source: DataSource, watch: DataWatch = {}): Promise<Bundle> {
    let bundle: Bundle | undefined
    await this.#ask({ kind: 'bundle', source }, watch, (report) => {
      if (report.kind === 'unpacked') bundle = report.bundle
      return report.kind === 'unpacked'
    })
    if (!bundle) throw new Error('the worker said nothing')
    return bundle
  }

  /** The rows of a plan. Rejects with DataFileError, or with BadRowsError where rows cannot be
   * used. */
  async prepare(
    request: Omit<Extract<DataRequest, { kind: 'prepare' }>, 'kind'>,
    watch: DataWatch = {},
  ): Promise<Prepared> {
    const sides: Record<'train' | 'test', DataRow[]> = { train: [], test: [] }
    let said: Extract<DataReport, { kind: 'prepared' }> | undefined
    await this.#ask({ kind: 'prepare', ...request }, watch, (report) => {
      if (report.kind === 'rows') for (const row of report.rows) sides[report.side].push(row)
      if (report.kind === 'prepared') said = report
      return report.kind === 'prepared'
    })
    if (!said) throw new Error('the worker said nothing')
    const tokenizer = await tokenizerOf(request.plan, said.tokenizer)
    return { ...said.rest, ...sides, tokenizer }
  }

  end(): void {
    this.#port?.terminate()
    this.#port = undefined
  }

  /** One request after the other; `hear` says which report is the last one. */
  #ask(
    request: DataRequest,
    { onProgress, signal }: DataWatch,
    hear: (report: DataReport) => boolean,
  ): Promise<void> {
    const work = this.#tail.then(
      () =>
        new Promise<void>((resolve, reject) => {
          const stop = () => {
            silence.end()
            this.end()
            reject(new Error('the reading of the file was ended'))
          }
          if (signal?.aborted) return reject(new Error('the reading of the file was ended'))
          signal?.addEventListener('abort', stop, { once: true })
          this.#port ??= this.#open()
          const port = this.#port
          let patterns: readonly string[] = []
          const silence = new Silence(() => {
            this.end()
            settle(() => reject(new DataFileError(silentWords(patterns))))
          })
          const settle = (done: () => void) => {
            silence.end()
            signal?.removeEventListener('abort', stop)
            done()
          }
          port.onerror = ({ message }) => {
            this.end()
            settle(() => reject(new Error(message || 'the worker could not be loaded')))
          }
          port.onmessage = ({ data }) => {
            silence.heard()
            if (data.kind === 'progress') onProgress?.(data.share)
            else if (data.kind === 'patterns') patterns = data.patterns
            else if (data.kind === 'failed') settle(() => reject(errorOf(data)))
            else if (hear(data)) settle(resolve)
          }
          port.postMessage(request)
        }),
    )
    this.#tail = work.catch(() => {})
    return work
  }
}

const errorOf = ({ problem, bad }: Extract<DataReport, { kind: 'failed' }>): Error =>
  bad ? new BadRowsError(bad) : new DataFileError(problem)

async function tokenizerOf(
  { tokenizer }: Pick<DataPlan, 'tokenizer'>,
  { files, alphabet = '' }: MadeTokenizer,
): Promise<Tokenizer> {
  return ownTokenizer(tokenizer) ?? (files ? await loadTokenizer(files) : characters(alphabet))
}
