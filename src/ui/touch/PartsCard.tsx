// Shows what each part does. Parts of a kept state are switched off one at a time, and the held-out
// problems are answered again.
import { useState } from 'react'
import { useStore } from 'zustand'
import type { PartCost, PartCosts } from '../../host/protocol/touch.ts'
import { useKeptSteps } from '../look/kept_states.ts'
import { costCell, largestOf, MeasureChoice } from './MeasureChoice.tsx'
import { overRecord, StateChoice, TouchCard } from './TouchCard.tsx'
import { TouchMap } from './TouchMap.tsx'
import { keyOf, PROBLEMS, touch, touchStore } from './touch_store.ts'
import {
  columnName,
  estimateText,
  gridOf,
  measuresOf,
  partName,
  partsSay,
  partsTable,
} from './words/part_words.ts'

const NOTE =
  'Each part writes nothing in its place, in every pass, and the same held-out problems are answered. It misleads: nothing is no neutral value, and parts stand in for one another. A large cost says that a part is needed; a small one does not say that it is idle.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

function PartsMap({ costs }: { readonly costs: PartCosts }) {
  const measures = measuresOf(costs)
  const [key, setKey] = useState('reward')
  const measure = measures.find((one) => one.key === key) ?? measures[0]
  const grid = gridOf(costs.parts)
  const largest = largestOf(costs.parts, measure)
  const said = (part: PartCost) => {
    const found = measure.of(part)
    return `without ${partName(part)}: ${found ? estimateText(found, measure.unit) : 'not measured'}`
  }
  return (
    <>
      <MeasureChoice
        id="parts-measure"
        label="What it costs in"
        measures={measures}
        value={measure.key}
        onChange={setKey}
      />
      <TouchMap
        id="parts-map"
        title={`Change of the ${measure.label} without a part`}
        note="Orange is less, blue is more than with everything on; in brackets what the problems cannot tell from none."
        columns={grid[0].map(columnName)}
        rows={grid.map(([{ layer }]) => `block ${layer}`)}
        cells={grid.map((parts) => parts.map((part) => costCell(part, measure, largest)))}
        table={() => partsTable(costs)}
        label="Part, and block by up and down"
        said={({ row, column }) => said(grid[row][column])}
        hint="Point at a part, or move along with the arrow keys, for its interval."
      />
    </>
  )
}

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
      {costs ? <PartsMap costs={costs} /> : null}
    </TouchCard>
  )
}

export const PartsCard = overRecord(OfRecord)
