// Shows what each part of an opened model does for the text that it read, as a map of blocks and
// parts.
import { useState } from 'react'
import type { TextParts } from '../../../host/protocol/opened_model.ts'
import { formatNats, formatNumber } from '../../kit/format.ts'
import { costCell, largestOf, MeasureChoice } from '../MeasureChoice.tsx'
import { TouchMap } from '../TouchMap.tsx'
import {
  columnName,
  estimateText,
  gridOf,
  partName,
  readingMeasures,
  toldAmong,
} from '../words/part_words.ts'
import '../touch.css'

/** The part whose loss costs the text most. */
function partsOfTextSay({ tokens, untouched, parts }: TextParts): string {
  const whole = `With everything on, a token of this text has a mean log-prob of ${formatNats(untouched.log_prob)}.`
  const told = toldAmong(parts, ({ log_prob }) => log_prob)
    .map(({ one }) => one)
    .filter(({ where, log_prob }) => where !== 'block' && log_prob.mean < 0)
  if (told.length === 0)
    return `${whole} No part below a layer costs anything that ${tokens} tokens can show.`
  const most = told.reduce((a, b) => (b.log_prob.mean < a.log_prob.mean ? b : a))
  return `${whole} Beside whole layers ${partName(most)} matters most for it: without, ${estimateText(most.log_prob, ' nats')}.`
}

export function PartsOfText(props: {
  readonly name: string
  readonly parts: TextParts
  readonly suffix: string
}) {
  const { name, parts: found, suffix } = props
  const { untouched, parts } = found
  const measures = readingMeasures(untouched, 'log-prob of a token')
  const [key, setKey] = useState('log_prob')
  const measure = measures.find((one) => one.key === key) ?? measures[0]
  const grid = gridOf(parts)
  const largest = largestOf(parts, measure)
  const said = (row: number, column: number) => {
    const part = grid[row][column]
    const of = measure.of(part)
    return `without ${partName(part)}: ${of ? estimateText(of, measure.unit) : 'not measured'}`
  }
  const table = () => ({
    columns: ['switched off', ...measures.flatMap(({ label }) => [`${label}, change`, '± 95 %'])],
    rows: parts.map((part) => [
      partName(part),
      ...measures.flatMap((one) => {
        const of = one.of(part)
        return of ? [formatNumber(of.mean), formatNumber(of.interval)] : ['', '']
      }),
    ]),
  })
  return (
    <section className="touch" aria-label={`What each part of ${name} does`}>
      <p className="figure-says" data-testid={`text-parts-says${suffix}`}>
        {partsOfTextSay(found)}
      </p>
      <p className="soft">
        Each part writes nothing in its place, and the text is read again. Intervals are over its
        tokens, which are not independent. It misleads: nothing is no neutral value, and parts stand
        in for one another.
      </p>
      <MeasureChoice
        id={`text-parts-measure${suffix}`}
        label="What it costs in"
        measures={measures}
        value={measure.key}
        onChange={setKey}
      />
      <TouchMap
        id={`text-parts${suffix}`}
        owner={{ words: name, stem: name }}
        title={`Change of the ${measure.label} without a part`}
        note="Orange is more, blue is less than with everything on; in brackets what the tokens cannot tell from none."
        columns={grid[0].map(columnName)}
        rows={grid.map(([{ layer }]) => `layer ${layer}`)}
        cells={grid.map((row) => row.map((part) => costCell(part, measure, largest)))}
        table={table}
        label="Part, and layer by up and down"
        said={({ row, column }) => said(row, column)}
        hint="Point at a part, or move along with the arrow keys, for its interval."
      />
    </section>
  )
}
