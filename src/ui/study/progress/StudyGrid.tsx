// Draws arms by seeds: what each run came to, how far it is, where it paused, or
// that it waits.
import type { Analysis } from '../../../document/study/analysis.ts'
import { measureTitle } from '../../../document/study/report/measure_words.ts'
import { unitsOf } from '../../../document/study/report/units.ts'
import type { Study } from '../../../document/study/study.ts'
import type { BegunRun } from '../../../page/study/begun_runs.ts'

const NUMBERS_ALONE =
  'A study keeps the numbers of its runs, not their steps: there is no run to open. Train it alone to look inside.'

interface CellProps {
  readonly run: BegunRun | undefined
  readonly value: Analysis['arms'][number]['values'][number] | undefined
  readonly format: (value: number) => string
}

function stateText({ step, of, waits, message, isPaused }: BegunRun): string {
  if (isPaused) return `paused at ${step} of ${of}`
  return waits ? 'waits for memory' : message ? 'preparing' : `${step} of ${of}`
}

function Cell({ run, value, format }: CellProps) {
  if (value)
    return (
      <td
        data-status="done"
        title={value.hasCollapsed ? `It collapsed, and counts. ${NUMBERS_ALONE}` : NUMBERS_ALONE}
      >
        {format(value.value)}
        {value.hasCollapsed ? ' ↓' : ''}
      </td>
    )
  if (!run) return <td className="soft">waits</td>
  return (
    <td data-status={run.isPaused ? 'paused' : 'training'}>
      {stateText(run)}
      <progress max={run.of} value={run.step} aria-label={`Steps of ${run.name}`} />
    </td>
  )
}

interface StudyGridProps {
  readonly analysis: Analysis
  readonly measure: Study['measure']
  readonly seeds: readonly number[]
  readonly begun: readonly BegunRun[]
}

export function StudyGrid({ analysis, measure, seeds, begun }: StudyGridProps) {
  const { metric, arms } = analysis
  const format = unitsOf(metric).valueText
  return (
    <div className="study-table" tabIndex={0} role="group" aria-label="Runs of the study">
      <h3 className="study-grid-title">{measureTitle(metric ?? measure.metric)} of every run</h3>
      <table data-testid="study-grid">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            {seeds.map((seed) => (
              <th key={seed} scope="col">
                seed {seed}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {arms.map(({ arm, values }) => (
            <tr key={arm.name}>
              <th scope="row">{arm.name}</th>
              {seeds.map((seed) => (
                <Cell
                  key={seed}
                  run={begun.find(({ name }) => name === `${arm.name}, seed ${seed}`)}
                  value={values.find((one) => one.seed === seed)}
                  format={format}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
