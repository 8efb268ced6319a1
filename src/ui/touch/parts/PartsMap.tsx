// Draws the map of what each part does: a row for each block, and the cost that a person chooses.
import { useState } from 'react'
import type { PartCost, PartCosts } from '../../../host/protocol/touch.ts'
import { costCell, largestOf, MeasureChoice } from '../MeasureChoice.tsx'
import { TouchMap } from '../TouchMap.tsx'
import {
  columnName,
  estimateText,
  gridOf,
  measuresOf,
  partName,
  partsTable,
} from '../words/part_words.ts'

/** `when`: of which state, where the card shows several. */
export function PartsMap(props: {
  readonly id: string
  readonly costs: PartCosts
  readonly when?: string
}) {
  const { id, costs, when } = props
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
        id={`${id}-measure`}
        label="What it costs in"
        measures={measures}
        value={measure.key}
        onChange={setKey}
      />
      <TouchMap
        id={`${id}-map`}
        title={`Change of the ${measure.label} without a part${when ? `, ${when}` : ''}`}
        note="Orange is more, blue is less than with everything on; in brackets what the problems cannot tell from none, each part by itself."
        columns={grid[0].map(columnName)}
        rows={grid.map(([{ layer }]) => `layer ${layer}`)}
        cells={grid.map((parts) => parts.map((part) => costCell(part, measure, largest)))}
        table={() => partsTable(costs)}
        label="Part, and layer by up and down"
        said={({ row, column }) => said(grid[row][column])}
        hint="Point at a part, or move along with the arrow keys, for its interval."
      />
    </>
  )
}
