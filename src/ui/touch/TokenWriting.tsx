// Shows what wrote a token: the logit of one token of a response, taken apart into what each part
// of the model added, and what every head looked at.

import { useStore } from 'zustand'
import { stateLabel } from '../glossary/layer_names.ts'
import { formatNumber, formatShare } from '../kit/format.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import type { Cell } from '../plot/still/CellMap.tsx'
import { overRecord, TouchCard } from './TouchCard.tsx'
import { TouchMap } from './TouchMap.tsx'
import { keyOf, touch, touchStore } from './touch_store.ts'
import {
  type Added,
  addedName,
  addedTo,
  looksAt,
  looksTable,
  type Written,
  weightsSay,
  writingSays,
  writingTable,
} from './words/writing_words.ts'

const NOTE =
  'The logit of the token is a sum: what each part wrote, read with the final norm’s scale as it was (direct logit attribution). It misleads: a part that writes nothing into this sum may still decide what later parts read, and attention says where a head looked, not what it took from there.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

interface TokenWritingProps {
  readonly sample: {
    readonly prompt: string
    readonly response: string
    readonly is_ended: boolean
  }
  /** The step that sampled it. */
  readonly step: number
  /** Which token of the response, from 0. */
  readonly t: number
}

function AddedMap({ written, at }: { readonly written: Written; readonly at: number }) {
  const [[embedding], ...blocks] = addedTo(written, at)
  const largest = Math.max(1e-9, ...[embedding, ...blocks.flat()].map(({ by }) => Math.abs(by)))
  const cell = ({ by }: Added): Cell => ({
    text: formatNumber(by),
    tone: by < 0 ? 'less' : 'more',
    share: Math.abs(by) / largest,
  })
  const heads = blocks[0].length - 2
  const blank: Cell = { text: '', tone: 'empty', share: 0 }
  const grid = [...blocks.toReversed(), [embedding]]
  const cells = grid.map((row) =>
    row.length > 1 ? row.map(cell) : [cell(row[0]), ...blocks[0].slice(1).map(() => blank)],
  )
  return (
    <TouchMap
      id="written-by"
      title="What each part adds to the logit"
      note="Above the mean logit of all tokens. Orange raises it, blue lowers it; the heads of a layer add up to its attention, and embedding, attention and feed-forward to the whole."
      columns={[
        'attention',
        ...Array.from({ length: heads }, (_, h) => `head ${h + 1}`),
        'feed-forward',
      ]}
      rows={grid.map(([{ layer }]) => stateLabel(layer))}
      cells={cells}
      table={() => writingTable(written)}
      label="Part, and layer by up and down"
      said={({ row, column }) => {
        const part = grid[row][column]
        return part ? `${addedName(part)} adds ${formatNumber(part.by)}` : 'no such part'
      }}
      hint="Point at a part, or move along with the arrow keys, for what it adds."
    />
  )
}

function LooksMap({ written, at }: { readonly written: Written; readonly at: number }) {
  const { tokens } = written
  const rows = looksAt(written, at).toReversed()
  const columns = tokens.slice(0, at).map((token, i) => `${i + 1}: ${token}`)
  const cell = (share: number): Cell => ({
    text: `${Math.round(100 * share)}`,
    tone: 'more',
    share,
  })
  return (
    <TouchMap
      id="looked-at"
      title="What each head looks at where the token is chosen, %"
      note="A row is a head, a column a token before it; a row adds up to 100 %."
      columns={columns}
      rows={rows.map(({ layer, head }) => `layer ${layer} head ${head + 1}`)}
      cells={rows.map(({ shares }) => shares.map(cell))}
      table={() => looksTable(written, at)}
      label="Token, and head by up and down"
      said={({ row, column }) => {
        const { layer, head, shares } = rows[row]
        return `head ${head + 1} of layer ${layer} looks at token ${columns[column]}: ${formatShare(shares[column])}`
      }}
      hint="Point at a cell, or move along with the arrow keys, for its share."
    />
  )
}

function OfRecord({ record, sample, step, t }: TokenWritingProps & { readonly record: string }) {
  const steps = useKeptSteps(record)
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'attribution'))
  if (steps.length === 0) return null
  // The newest state that does not know the step yet; the oldest where all of them do.
  const before = steps.filter((kept) => kept < step)
  const state = before.length > 0 ? Math.max(...before) : Math.min(...steps)
  const isIts =
    found?.what === 'attribution' &&
    found.sample.prompt === sample.prompt &&
    found.sample.response === sample.response
  const written = isIts ? found : undefined
  const at = (written?.prompt_length ?? 0) + t
  const hasToken = written !== undefined && at > 0 && at < written.tokens.length
  return (
    <TouchCard
      id="writing"
      title="What wrote this token?"
      what="attribution"
      record={record}
      says={hasToken ? writingSays(written, at) : undefined}
      note={NOTE}
      action="Take its logit apart"
      onStart={() => void touch(record, [state], { what: 'attribution', sample })}
      choices={<span className="soft">{weightsSay(state, step)}</span>}
    >
      {hasToken ? (
        <>
          <AddedMap written={written} at={at} />
          <LooksMap written={written} at={at} />
        </>
      ) : null}
    </TouchCard>
  )
}

export const TokenWriting = overRecord(OfRecord)
