// Reads data files beside the page, which keeps answering: tables, mapping, tokenizers and the
// split. One request at a time.

import { USUAL_PLAN } from '../../tasks/data/plan.ts'
import { prepareData } from '../../tasks/data/prepare.ts'
import { readRows } from '../../tasks/data/readers/readers.ts'
import { keysOf, proposeMapping } from '../../tasks/data/rows/propose.ts'
import { BadRowsError, plainBad } from '../../tasks/data/table/bad_rows.ts'
import type { NamedTable } from '../../tasks/data/table/named_table.ts'
import { shownCell } from '../../tasks/data/table/table.ts'
import { installPatternGuard } from '../../tasks/tokenizers/hugging_face/pattern_guard.ts'
import type { Tokenizer } from '../../tasks/tokenizers/tokenizer.ts'
import { trainBpe } from '../../tasks/tokenizers/train_bpe.ts'
import type {
  DataHead,
  DataReport,
  DataRequest,
  DataSource,
  MadeTokenizer,
} from '../connection/data_messages.ts'

const SHOWN_ROWS = 5
const SHOWN_CHARACTERS = 120
/** Rows of one message. */
const PIECE = 2000
/** Tables that stay in memory: of rows, and of held-out rows. */
const MOST_TABLES = 2

const tell = (report: DataReport) => postMessage(report)
const onProgress = (share: number) => tell({ kind: 'progress', share })

const told = new WeakSet<readonly string[]>()
installPatternGuard((work, _, patterns) => {
  if (!told.has(patterns)) tell({ kind: 'patterns', patterns })
  told.add(patterns)
  return work()
})

const tables = new Map<string, NamedTable>()

async function tableOf({ name, hash, blob }: DataSource): Promise<NamedTable> {
  const known = tables.get(hash)
  if (known) return { ...known, name }
  const bytes = new Uint8Array(await blob.arrayBuffer())
  const table = await readRows({ name, bytes }, onProgress)
  tables.set(hash, table)
  for (const oldest of tables.keys()) if (tables.size > MOST_TABLES) tables.delete(oldest)
  return table
}

const headOf = ({ table }: NamedTable): DataHead => ({
  columns: table.columns,
  keys: keysOf(table),
  notes: table.notes,
  first_plan: { ...USUAL_PLAN, ...proposeMapping(table) },
  first_rows: table.rows.slice(0, SHOWN_ROWS).map((row, r) => ({
    place: table.placeOf(r),
    cells: row.map((cell) =>
      typeof cell === 'string' ? cell.slice(0, SHOWN_CHARACTERS) : shownCell(cell),
    ),
  })),
})

const madeOf = ({ files, tokens, special_ids }: Tokenizer): MadeTokenizer =>
  files ? { files } : { alphabet: tokens.filter((_, id) => !special_ids.has(id)).join('') }

async function prepare(request: Extract<DataRequest, { kind: 'prepare' }>): Promise<void> {
  const { train, val, plan, tokenizer: file } = request
  const bytes = file && new Uint8Array(await file.blob.arrayBuffer())
  const {
    train: rows,
    test,
    tokenizer,
    ...rest
  } = await prepareData(await tableOf(train), val && (await tableOf(val)), plan, {
    file: file && bytes && { name: file.name, bytes },
    trainBpe: async (texts, vocab_size) => {
      const watched = (share: number) => {
        onProgress(share)
        return true
      }
      const files = trainBpe(texts, { vocab_size, onProgress: watched })
      if (!files) throw new Error('the training of the tokenizer was ended')
      return files
    },
    onProgress,
  })
  for (const [side, all] of [['train', rows] as const, ['test', test] as const])
    for (let from = 0; from < all.length; from += PIECE)
      tell({ kind: 'rows', side, rows: all.slice(from, from + PIECE) })
  tell({
    kind: 'prepared',
    rest: { ...rest, found: { ...rest.found, bad: plainBad(rest.found.bad) } },
    tokenizer: madeOf(tokenizer),
  })
}

async function unpack({ name, blob }: DataSource): Promise<void> {
  // Most readers never open a bundle.
  const { readBundle } = await import('../../host/content/bundle.ts')
  tell({
    kind: 'unpacked',
    bundle: await readBundle(name, new Uint8Array(await blob.arrayBuffer())),
  })
}

addEventListener('message', async ({ data }: MessageEvent<DataRequest>) => {
  try {
    if (data.kind === 'open') tell({ kind: 'opened', head: headOf(await tableOf(data.source)) })
    else if (data.kind === 'bundle') await unpack(data.source)
    else await prepare(data)
  } catch (error) {
    const problem = error instanceof Error ? error.message : `${error}`
    const { bad } = error instanceof BadRowsError ? error : { bad: undefined }
    tell({
      kind: 'failed',
      problem,
      ...(bad && { bad: plainBad(bad) }),
    })
  }
})
