// Draws the arms of a study in numbers; each but the baseline can be taken out of a study of one's
// own.
import { X } from 'lucide-react'
import type { Analysis, ArmResult } from '../../document/study/analysis.ts'
import type { Arm } from '../../document/study/arms.ts'
import { withoutArm } from '../../document/study/build.ts'
import { answerSentence } from '../../document/study/report/answer.ts'
import { short } from '../../document/study/report/svg.ts'
import { budgetUnit, inHead, spentText, unitsOf } from '../../document/study/report/units.ts'
import { bareDifference, measureSentence } from '../../document/study/report/words.ts'
import { measuresOf, type Study } from '../../document/study/study.ts'
import { takeOutArm } from '../../page/study/study_store.ts'
import { NONE } from '../kit/format.ts'
import { useOpenedArm } from '../open/opened_arm.ts'

const VERDICTS = {
  better: 'better',
  worse: 'worse',
  equal: 'equal within the margin',
  none: 'no difference found',
  'too few': 'too few seeds',
} as const

interface ArmsTableProps {
  readonly study: Study
  readonly analysis: Analysis
  readonly arms: readonly Arm[]
  /** A study of the lab stays as it is. */
  readonly isFixed: boolean
}

function ArmRow(props: ArmsTableProps & { readonly result: ArmResult }) {
  const { study, analysis, isFixed, result } = props
  const { arm, values, mean, deviation, interquartile_mean, spent, comparison } = result
  const units = unitsOf(analysis.metric)
  const { ref, isWanted } = useOpenedArm(arm.name)
  const rest = isFixed ? undefined : withoutArm(study, props.arms, arm.name)
  const isCompared = comparison !== undefined && comparison.pairs.length > 0
  return (
    <tr ref={ref} data-wanted={isWanted || undefined}>
      <th scope="row">{arm.name}</th>
      <td>{values.length}</td>
      <td>
        {values.length === 0
          ? NONE
          : `${units.bareValue(mean)} ± ${units.bareDifference(deviation)}`}
      </td>
      <td>{units.bareValue(interquartile_mean)}</td>
      <td>{spentText(spent)}</td>
      <td>{isCompared ? bareDifference(comparison, units) : ''}</td>
      <td>{isCompared ? short(comparison.p_holm ?? Number.NaN) : ''}</td>
      <td className="study-verdict">{isCompared ? VERDICTS[comparison.verdict] : ''}</td>
      <td>
        {rest ? (
          <button
            type="button"
            className="plain"
            aria-label={`Take ${arm.name} out of the study`}
            title={`Take ${arm.name} out of the study`}
            onClick={() => takeOutArm(arm.name, rest)}
          >
            <X className="icon" aria-hidden="true" />
          </button>
        ) : null}
      </td>
    </tr>
  )
}

export function ArmsTable(props: ArmsTableProps) {
  const { study, analysis } = props
  const units = unitsOf(analysis.metric)
  return (
    <div className="study-table" tabIndex={0} role="group" aria-label="Arms of the study">
      <table data-testid="study-table">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            <th scope="col">Seeds</th>
            <th scope="col">Mean ± sd{inHead(units.value)}</th>
            <th scope="col" title="Mean of the middle half of the seeds">
              IQM{inHead(units.value)}
            </th>
            <th scope="col">Spent, {budgetUnit(study.budget.same)}</th>
            <th scope="col">Difference [95 %]{inHead(units.difference)}</th>
            <th scope="col">p (Holm)</th>
            <th scope="col">Found</th>
            <th scope="col">
              <span className="visually-hidden">Take out</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {analysis.arms.map((result) => (
            <ArmRow key={result.arm.name} {...props} result={result} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What each primary measure behind the first says of the arms. */
export function FurtherMeasures(props: ArmsTableProps) {
  const { study, analysis } = props
  return analysis.also?.map((further, i) => {
    const own = { ...study, measure: measuresOf(study)[i + 1] }
    const sentence = measureSentence(own, further)
    return (
      <section key={sentence}>
        <p>{sentence}</p>
        {further.runs.length > 0 ? (
          <p>
            <strong>{answerSentence(own, further)}</strong>
          </p>
        ) : null}
        <ArmsTable {...props} analysis={further} />
      </section>
    )
  })
}
