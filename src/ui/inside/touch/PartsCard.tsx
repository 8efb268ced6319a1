// What does each part do? Parts of a kept state are switched off one at a time, and the held-out
// problems are answered again.
import { useState } from 'react'
import { useStore } from 'zustand'
import type { PartCost, PartCosts } from '../../../host/protocol/touch.ts'
import { useKeptSteps, useRecordOver } from '../../look/kept_states.ts'
import type { Owner } from '../../plot/files/SaveAs.tsx'
import { Readout } from '../../plot/Readout.tsx'
import { type Cell, CellMap, type CellPlace } from '../../plot/still/CellMap.tsx'
import { StillFigure } from '../../plot/still/StillFigure.tsx'
import { ownerOfShown } from './owner.ts'
import {
  columnName,
  estimateText,
  isTold,
  type Measure,
  measuresOf,
  partName,
  partsSay,
  partsTable,
} from './part_words.ts'
import { StateChoice, TouchCard } from './TouchCard.tsx'
import { keyOf, touch, touchStore } from './touch_store.ts'

const NOTE =
  'Each part writes nothing in its place, in every pass, and the same held-out problems are answered. It misleads: nothing is no neutral value, and parts stand in for one another. A large cost says that a part is needed; a small one does not say that it is idle.'
const selectFound = ({ found }: ReturnType<typeof touchStore.getState>) => found

/** Parts by block, the last block on top. */
function gridOf({ parts }: PartCosts) {
  const layers = [...new Set(parts.map(({ layer }) => layer))].sort((a, b) => b - a)
  return layers.map((layer) => parts.filter((part) => part.layer === layer))
}

function cellOf(part: PartCost, measure: Measure, largest: number): Cell {
  const found = measure.of(part)
  if (!found) return { text: '', tone: 'empty', share: 0 }
  const text = estimateText(found, '').split(' ± ')[0]
  return {
    text: isTold(found) ? text : `(${text})`,
    tone: found.mean < 0 ? 'less' : 'more',
    share: Math.abs(found.mean) / largest,
  }
}

function PartsMap(props: { readonly costs: PartCosts; readonly owner: Owner }) {
  const { costs, owner } = props
  const measures = measuresOf(costs)
  const [key, setKey] = useState('reward')
  const [at, move] = useState<CellPlace>()
  const measure = measures.find((one) => one.key === key) ?? measures[0]
  const grid = gridOf(costs)
  const largest = Math.max(
    1e-9,
    ...costs.parts.map((part) => Math.abs(measure.of(part)?.mean ?? 0)),
  )
  const said = (part: PartCost) => {
    const found = measure.of(part)
    return `without ${partName(part)}: ${found ? estimateText(found, measure.unit) : 'not measured'}`
  }
  const place = at ?? { row: 0, column: 0 }
  const clamp = (row: number) => Math.min(grid.length - 1, Math.max(0, row))
  return (
    <>
      <label>
        <span className="soft">What it costs in</span>{' '}
        <select
          data-testid="parts-measure"
          value={measure.key}
          onChange={({ target }) => setKey(target.value)}
        >
          {measures.map((one) => (
            <option key={one.key} value={one.key}>
              {one.label}
            </option>
          ))}
        </select>
      </label>
      <StillFigure
        id="parts-map"
        title={`Change of the ${measure.label} without a part`}
        note="Orange is less, blue is more than with everything on; in brackets what the problems cannot tell from none."
        owner={owner}
        table={() => partsTable(costs)}
      >
        {(id) => (
          <>
            <CellMap
              columns={grid[0].map(columnName)}
              rows={grid.map(([{ layer }]) => `block ${layer}`)}
              cells={grid.map((parts) => parts.map((part) => cellOf(part, measure, largest)))}
              at={at}
              onMove={move}
            />
            <Readout
              id={`${id}-value`}
              label="Part, and block by up and down"
              read={() => ({
                stops: grid[0].map((_, i) => i),
                at: at?.column,
                text: at ? said(grid[at.row][at.column]) : costs.parts.map(said).join('; '),
                ...(at
                  ? {}
                  : {
                      written:
                        'Point at a part, or move along with the arrow keys, for its interval.',
                    }),
              })}
              onMove={(column) => move(column === undefined ? undefined : { ...place, column })}
              onVertical={(by) => move({ ...place, row: clamp(place.row - by) })}
            />
          </>
        )}
      </StillFigure>
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
      onStart={() => void touch(record, [step])}
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
      {costs ? <PartsMap costs={costs} owner={ownerOfShown()} /> : null}
    </TouchCard>
  )
}

/** Nothing while the shown run is on, or where no state of it is kept. */
export function PartsCard() {
  const record = useRecordOver()
  return record === undefined ? null : <OfRecord key={record} record={record} />
}
