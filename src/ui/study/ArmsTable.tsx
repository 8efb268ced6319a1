// The arms of a study in numbers; each can be taken out of it.
import { X } from 'lucide-react'
import type { Analysis, Comparison } from '../../document/study/analysis.ts'
import type { Arm } from '../../document/study/arms.ts'
import { boundsOf } from '../../document/study/bounds.ts'
import { withoutArm } from '../../document/study/build.ts'
import { short } from '../../document/study/report/svg.ts'
import { differenceText } from '../../document/study/report/words.ts'
import type { Study } from '../../document/study/study.ts'
import { setStudy } from '../../page/study/study_store.ts'
import { formatCount, NONE } from '../kit/format.ts'

const VERDICTS = {
  better: 'better',
  worse: 'worse',
  none: 'no difference found',
  'too few': 'too few seeds',
} as const

/** A share times 100, with one decimal. */
const inPoints = (share: number): string =>
  Number.isFinite(share) ? (100 * share).toFixed(1).replace('-', '−') : NONE
const signedPoints = (share: number): string => `${share > 0 ? '+' : ''}${inPoints(share)}`

/** A difference of shares and its interval, in points of a hundred. */
const pointsText = ({ mean, t }: Comparison): string =>
  t ? `${signedPoints(mean)} [${signedPoints(t.low)}, ${signedPoints(t.high)}]` : signedPoints(mean)

export function ArmsTable(props: {
  readonly study: Study
  readonly analysis: Analysis
  readonly arms: readonly Arm[]
}) {
  const { study, analysis } = props
  // As in the grid above: a share in per cent, and a difference in points.
  const isShare = boundsOf(analysis.metric ?? '').high === 1
  const unit = isShare ? ', %' : ''
  const number = isShare ? inPoints : short
  return (
    <div className="study-table" tabIndex={0} role="group" aria-label="Arms of the study">
      <table data-testid="study-table">
        <thead>
          <tr>
            <th scope="col">Arm</th>
            <th scope="col">Seeds</th>
            <th scope="col">Mean ± sd{unit}</th>
            <th scope="col" title="Mean of the middle half of the seeds">
              IQM{unit}
            </th>
            <th scope="col">Spent, {study.budget.same}</th>
            <th scope="col">Difference{isShare ? ', points' : ''} [95 %]</th>
            <th scope="col">p (Holm)</th>
            <th scope="col">Found</th>
            <th scope="col">
              <span className="visually-hidden">Take out</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {analysis.arms.map(
            ({ arm, values, mean, deviation, interquartile_mean, spent, comparison }) => {
              const rest = withoutArm(study, props.arms, arm.name)
              const isCompared = comparison !== undefined && comparison.pairs.length > 0
              return (
                <tr key={arm.name}>
                  <th scope="row">{arm.name}</th>
                  <td>{values.length}</td>
                  <td>
                    {number(mean)} ± {number(deviation)}
                  </td>
                  <td>{number(interquartile_mean)}</td>
                  <td>{Number.isFinite(spent) ? formatCount(Math.round(spent)) : NONE}</td>
                  <td>{isCompared ? (isShare ? pointsText : differenceText)(comparison) : ''}</td>
                  <td>{isCompared ? short(comparison.p_holm) : ''}</td>
                  <td>{isCompared ? VERDICTS[comparison.verdict] : ''}</td>
                  <td>
                    {rest ? (
                      <button
                        type="button"
                        className="plain"
                        aria-label={`Take ${arm.name} out of the study`}
                        title={`Take ${arm.name} out of the study`}
                        onClick={() => setStudy(rest)}
                      >
                        <X className="icon" aria-hidden="true" />
                      </button>
                    ) : null}
                  </td>
                </tr>
              )
            },
          )}
        </tbody>
      </table>
    </div>
  )
}
