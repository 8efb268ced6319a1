// Declares the messages between the page and the worker that reads data files. Rows come in pieces,
// so the page is never blocked for long.

import type { Bundle } from '../../host/content/bundle.ts'
import type { DataPlan, Prepared } from '../../tasks/data/plan.ts'
import type { DataRow } from '../../tasks/data/rows/row.ts'
import type { FoundBad } from '../../tasks/data/table/bad_rows.ts'
import type { TokenizerFiles } from '../../tasks/tokenizers/hugging_face/tokenizer_files.ts'

/** A file whose bytes are read where they are needed. */
export interface DataSource {
  readonly name: string
  /** Of its bytes: a file that was read already is not read again. */
  readonly hash: string
  readonly blob: Blob
}

export type DataRequest =
  | { readonly kind: 'open'; readonly source: DataSource }
  | { readonly kind: 'bundle'; readonly source: DataSource }
  | {
      readonly kind: 'prepare'
      readonly train: DataSource
      readonly val: DataSource | undefined
      readonly plan: DataPlan
      /** Of the choice `file`. */
      readonly tokenizer: DataSource | undefined
    }

/** What a person sees of a file before anything is decided. */
export interface DataHead {
  readonly columns: readonly string[]
  /** Columns, and names inside of columns that hold objects. */
  readonly keys: readonly string[]
  readonly notes: readonly string[]
  /** What each column is likely to be, and the usual choices. */
  readonly first_plan: DataPlan
  /** The first rows, a text for each column. */
  readonly first_rows: readonly { readonly place: string; readonly cells: readonly string[] }[]
}

/** What a tokenizer is made from again: files, or the characters that are tokens; neither for one
 * of the lab's own. */
export interface MadeTokenizer {
  readonly files?: TokenizerFiles
  readonly alphabet?: string
}

export type DataReport =
  | { readonly kind: 'progress'; readonly share: number }
  /** Before patterns of a file run for the first time: what may then never end. */
  | { readonly kind: 'patterns'; readonly patterns: readonly string[] }
  | { readonly kind: 'opened'; readonly head: DataHead }
  | { readonly kind: 'unpacked'; readonly bundle: Bundle }
  | { readonly kind: 'rows'; readonly side: 'train' | 'test'; readonly rows: readonly DataRow[] }
  | {
      readonly kind: 'prepared'
      readonly rest: Omit<Prepared, 'train' | 'test' | 'tokenizer'>
      readonly tokenizer: MadeTokenizer
    }
  | { readonly kind: 'failed'; readonly problem: string; readonly bad?: FoundBad }

/** What the page needs of a Worker that reads data files. */
export interface DataPort {
  postMessage(request: DataRequest): void
  terminate(): void
  onmessage: ((event: MessageEvent<DataReport>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
}
