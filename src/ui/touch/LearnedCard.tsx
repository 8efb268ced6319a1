// Shows which layer learned it. Two kept states exchange parts, both ways round, and the held-out
// problems are answered again.
import { useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type { Touched } from '../../host/protocol/touch.ts'
import { runColor } from '../../record/run/record.ts'
import { formatPercent, formatShare } from '../kit/format.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import { LinesFigure } from '../plot/still/LinesFigure.tsx'
import { ownerOfShown } from './owner.ts'
import { overRecord, StateChoice, TouchCard } from './TouchCard.tsx'
import { keyOf, PROBLEMS, touch, touchStore } from './touch_store.ts'
import { exchangeLines, exchangeSays, exchangeTable } from './words/exchange_words.ts'

const NOTE =
  'Blocks of one state are put into the other, from the first up to k, and the same held-out problems are answered. It misleads: blocks that were trained together need not work with those of another time, so a mixture that fails says that two parts changed together, not that the part taken is bad. Read the curve from both sides.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found
const formatK = (k: number) => `${k}`

function Curve({ touched }: { readonly touched: Extract<Touched, { what: 'exchange' }> }) {
  const { exchanges, steps } = touched
  const lines = useMemo(
    () => exchangeLines(exchanges, steps, [runColor(0), runColor(1)]),
    [exchanges, steps],
  )
  return (
    <LinesFigure
      id="learned-curve"
      title="Held-out accuracy with the blocks up to k of the other state"
      note="At 0 each state is untouched. Bands are 95 % intervals of the change, paired by problem. The numbers have every part by itself, too."
      owner={ownerOfShown()}
      unit="k"
      lines={lines}
      is_share
      height={240}
      formatX={formatK}
      formatY={formatPercent}
      formatValue={formatShare}
      has_names
      table={() => exchangeTable(exchanges, steps)}
    />
  )
}

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const [first, setFirst] = useState<number>()
  const [second, setSecond] = useState<number>()
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'exchange'))
  if (steps.length < 2) return null
  const from = first ?? steps[steps.length - 1]
  const to = second ?? steps[0]
  const touched = found?.what === 'exchange' ? found : undefined
  return (
    <TouchCard
      id="learned"
      title="Which layer learned it?"
      what="exchange"
      record={record}
      says={touched && exchangeSays(touched.exchanges, touched.steps)}
      note={NOTE}
      action="Exchange their parts"
      onStart={() => void touch(record, [from, to], { what: 'exchange', problems: PROBLEMS })}
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
            steps={steps}
            value={to}
            onChange={setSecond}
          />
        </>
      }
    >
      {touched ? <Curve touched={touched} /> : null}
    </TouchCard>
  )
}

export const LearnedCard = overRecord(OfRecord)
