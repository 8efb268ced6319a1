// Shows what each part does. Parts of a kept state are switched off one at a time, and the held-out
// problems are answered again.
import { useState } from 'react'
import { useStore } from 'zustand'
import { useKeptSteps } from '../../look/kept_states.ts'
import { overRecord, StateChoice, TouchCard } from '../TouchCard.tsx'
import { keyOf, PROBLEMS, touch, touchStore } from '../touch_store.ts'
import { partsSay } from '../words/part_words.ts'
import { PartsMap } from './PartsMap.tsx'

const NOTE =
  'Each part writes nothing in its place, in every pass, and the same held-out problems are answered. It misleads: nothing is no neutral value, and parts stand in for one another. A large cost says that a part is needed; a small one does not say that it is idle.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

function OfRecord({ record }: { readonly record: string }) {
  const steps = useKeptSteps(record)
  const [chosen, setChosen] = useState<number>()
  const found = useStore(touchStore, selectFound).get(keyOf(record, 'parts'))
  if (steps.length === 0) return null
  const step = chosen ?? steps[0]
  const costs = found?.what === 'parts' ? found.costs : undefined
  return (
    <TouchCard
      id="parts"
      title="What does each part do?"
      what="parts"
      record={record}
      says={
        costs && found?.what === 'parts'
          ? `After step ${found.step}: ${partsSay(costs)}`
          : undefined
      }
      note={NOTE}
      opens="wide"
      action="Switch each part off"
      onStart={() => void touch(record, [step], { what: 'parts', problems: PROBLEMS })}
      choices={
        <StateChoice
          id="parts-step"
          label="In the state after"
          steps={steps}
          value={step}
          onChange={setChosen}
        />
      }
    >
      {costs ? <PartsMap id="parts" costs={costs} /> : null}
    </TouchCard>
  )
}

export const PartsCard = overRecord(OfRecord)
