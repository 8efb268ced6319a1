// Shows where the answer travels. A text is read with one state of another text in it, place by
// place and token by token.
import { useState } from 'react'
import { useStore } from 'zustand'
import type { TouchWork } from '../../host/protocol/touch.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import type { Cell } from '../plot/still/CellMap.tsx'
import { overRecord, StateChoice, TouchCard } from './TouchCard.tsx'
import { TouchMap } from './TouchMap.tsx'
import { keyOf, touch, touchStore } from './touch_store.ts'
import {
  cellSays,
  PATCH_VIEWS,
  type Patched,
  type PatchView,
  patchingSays,
  patchingTable,
  placesIn,
  recoveryText,
  rowName,
  tokenNames,
} from './words/patch_words.ts'

/** Pairs of problems that are tried: each costs a pass for every place. */
const PAIRS = 8
const NOTE =
  'A model reads a corrupted text, and at one place its state for one token is that of the clean text. 0 %: the answer stays as for the corrupted text; 100 %: it is that of the clean one. It misleads: a patch carries all that the state holds, so it says that something there decides, not what; and a place that brings back nothing may have a substitute.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

const cellOf = (recovery: number): Cell => ({
  text: recoveryText(recovery).replace('\u00a0%', ''),
  tone: recovery < 0 ? 'less' : 'more',
  share: Math.min(1, Math.abs(recovery)),
})

function PatchingMap({ patched }: { readonly patched: Patched }) {
  const [view, setView] = useState<PatchView>('residual')
  const tokens = tokenNames(patched)
  const places = placesIn(patched.patching, view)
  const label = PATCH_VIEWS.find(({ where }) => where === view)?.label ?? ''
  return (
    <>
      <label>
        <span className="soft">What is exchanged</span>{' '}
        <select
          data-testid="patching-view"
          value={view}
          onChange={({ target }) => setView(target.value as PatchView)}
        >
          {PATCH_VIEWS.map((one) => (
            <option key={one.where} value={one.where}>
              {one.label}
            </option>
          ))}
        </select>
      </label>
      <TouchMap
        id="patching-map"
        title={`Share of the clean answer that ${label} brings back, %`}
        note={`Columns are tokens${patched.patching.pairs.length > 1 ? ' of the first pair; the mean is over all' : ''}. Orange brings the clean answer back, blue leads away from it.`}
        columns={tokens}
        rows={places.map(rowName)}
        cells={places.map(({ recovery }) => recovery.map(cellOf))}
        table={() => patchingTable(patched)}
        label="Token, and place by up and down"
        said={({ row, column }) => cellSays(places[row], column, tokens)}
        hint="Point at a cell, or move along with the arrow keys, for what it says."
      />
    </>
  )
}

/** The texts that a person writes; empty for problems of the task. */
function TextChoice(props: {
  readonly texts: readonly [string, string]
  readonly onChange: (texts: readonly [string, string]) => void
}) {
  const { texts, onChange } = props
  const [clean, corrupted] = texts
  return (
    <>
      <label>
        <span className="soft">Clean text</span>{' '}
        <input
          data-testid="patching-clean"
          value={clean}
          placeholder="pairs of the task"
          onChange={({ target }) => onChange([target.value, corrupted])}
        />
      </label>
      <label>
        <span className="soft">Corrupted text</span>{' '}
        <input
          data-testid="patching-corrupted"
          value={corrupted}
          placeholder="pairs of the task"
          onChange={({ target }) => onChange([clean, target.value])}
        />
      </label>
    </>
  )
}

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const [chosen, setChosen] = useState<number>()
  const [texts, setTexts] = useState<readonly [string, string]>(['', ''])
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'patching'))
  if (steps.length === 0) return null
  const step = chosen ?? steps[0]
  const patched = found?.what === 'patching' ? found : undefined
  const work: TouchWork = texts.some((text) => text !== '')
    ? { what: 'patching', texts }
    : { what: 'patching', pairs: PAIRS }
  return (
    <TouchCard
      id="patching"
      title="Where does the answer travel?"
      what="patching"
      record={record}
      says={patched && patchingSays(patched)}
      note={NOTE}
      action="Exchange states"
      onStart={() => void touch(record, [step], work)}
      choices={
        <>
          <StateChoice
            id="patching-step"
            label="In the state after"
            steps={steps}
            value={step}
            onChange={setChosen}
          />
          <TextChoice texts={texts} onChange={setTexts} />
        </>
      }
    >
      {patched ? <PatchingMap patched={patched} /> : null}
    </TouchCard>
  )
}

export const PatchingCard = overRecord(OfRecord)
