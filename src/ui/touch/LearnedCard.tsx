// Shows which layer learned it. Two kept states exchange parts, both ways round, and the held-out
// problems are answered again.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { Touched } from '../../host/protocol/touch.ts'
import {
  type Library,
  libraryStore,
  type RunEntry,
  shownRuns,
} from '../../page/runs/library/library_store.ts'
import { runName } from '../../record/run/names.ts'
import { isLive, runColor } from '../../record/run/record.ts'
import { formatPercent, formatShare } from '../kit/format.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import { LinesFigure } from '../plot/still/LinesFigure.tsx'
import { ownerOfShown } from './owner.ts'
import { overRecord, StateChoice, TouchCard } from './TouchCard.tsx'
import { keyOf, PROBLEMS, touch, touchStore } from './touch_store.ts'
import { exchangeLines, exchangeSays, exchangeTable, stateNames } from './words/exchange_words.ts'

const NOTE =
  'Layers of one state are put into the other, from the first up to k, and the same held-out problems are answered. It misleads: layers that were trained together need not work with those of another time, so a mixture that fails says that two parts changed together, not that the part taken is bad. Read the curve from both sides.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found
const formatK = (k: number) => `${k}`

function Curve({ touched }: { readonly touched: Extract<Touched, { what: 'exchange' }> }) {
  const { exchanges, steps, other } = touched
  const lines = useMemo(
    () => exchangeLines(exchanges, stateNames(steps, other), [runColor(0), runColor(1)]),
    [exchanges, steps, other],
  )
  return (
    <LinesFigure
      id="learned-curve"
      title="Held-out accuracy with the layers up to k of the other state"
      note="At 0 each state is untouched. Bands are 95 % intervals of the change, paired by problem. The numbers have every part by itself, too."
      owner={ownerOfShown()}
      unit="k"
      lines={lines}
      isShare
      height={240}
      formatX={formatK}
      formatY={formatPercent}
      formatValue={formatShare}
      hasNames
      table={() => exchangeTable(exchanges, stateNames(steps, other))}
    />
  )
}

/** Runs that are over and whose states may have parts to exchange. */
const selectOthers = (library: Library) => shownRuns(library)

function RunChoice(props: {
  readonly others: readonly RunEntry[]
  readonly value: string
  readonly onChange: (record: string) => void
}) {
  const { others, value, onChange } = props
  return (
    <label>
      <span className="soft">of</span>{' '}
      <select
        data-testid="learned-run"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      >
        <option value="">this run</option>
        {others.map((entry) => (
          <option key={entry.id} value={entry.id}>
            {runName(entry).name}
          </option>
        ))}
      </select>
    </label>
  )
}

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const [first, setFirst] = useState<number>()
  const [second, setSecond] = useState<number>()
  const [run, setRun] = useState('')
  const others = useStore(libraryStore, selectOthers).filter(
    ({ id, header }) => id !== record && !isLive(header.status),
  )
  const other = others.find(({ id }) => id === run)
  const itsSteps = useKeptSteps(other?.id ?? record)
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'exchange'))
  if (steps.length === 0 || (steps.length < 2 && others.length === 0)) return null
  const from = first ?? (other ? steps[0] : steps[steps.length - 1])
  const to = second ?? itsSteps[0]
  const touched = found?.what === 'exchange' ? found : undefined
  const work = {
    what: 'exchange',
    problems: PROBLEMS,
    other: other && runName(other).name,
  } as const
  return (
    <TouchCard
      id="learned"
      title="Which layer learned it?"
      what="exchange"
      record={record}
      says={touched && exchangeSays(touched.exchanges, stateNames(touched.steps, touched.other))}
      note={NOTE}
      action="Exchange their parts"
      missing={to === undefined ? 'No state of that run is kept: choose another' : undefined}
      onStart={() => void touch(record, [from, to], work, { other })}
      choices={
        <>
          <StateChoice
            id="learned-first"
            label="The states after"
            steps={steps}
            value={from}
            onChange={setFirst}
          />
          <StateChoice
            id="learned-second"
            label="and after"
            steps={itsSteps}
            value={to}
            onChange={setSecond}
          />
          {others.length > 0 ? (
            <RunChoice
              others={others}
              value={other?.id ?? ''}
              onChange={(id) => {
                setRun(id)
                setSecond(undefined)
              }}
            />
          ) : null}
        </>
      }
    >
      {touched ? <Curve touched={touched} /> : null}
    </TouchCard>
  )
}

export const LearnedCard = overRecord(OfRecord)
