// Shows, before anything is trained, what the reward says of a right answer, of a wrong one and of
// none.
import { useEffect, useState } from 'react'
import { shownText } from '../../../host/protocol/token_text.ts'
import type { LabState } from '../../../page/state/store.ts'
import { type TriedRow, tryRewardOf } from '../../../page/trials/reward_trial.ts'
import { formatNumber } from '../../kit/format.ts'
import { proseClass } from '../../part/prose.ts'

/** A person who types changes it with every key. */
const REST_MS = 400

type Tried =
  | { readonly status: 'trying' }
  | { readonly status: 'refused'; readonly why: string }
  | { readonly status: 'done'; readonly rows: readonly TriedRow[] }

function useTrial(experiment: LabState['experiment']): Tried {
  const { task, reward, seed } = experiment
  const key = JSON.stringify([task, reward, seed])
  const [tried, setTried] = useState<Tried>({ status: 'trying' })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds what a trial depends on.
  useEffect(() => {
    let isWanted = true
    const tell = (next: Tried) => isWanted && setTried(next)
    tell({ status: 'trying' })
    const timer = setTimeout(() => {
      tryRewardOf(experiment).then(
        (rows) => tell({ status: 'done', rows }),
        ({ message }: Error) => tell({ status: 'refused', why: message }),
      )
    }, REST_MS)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [key])
  return tried
}

function Row({ row, names }: { readonly row: TriedRow; readonly names: readonly string[] }) {
  const { prompt, what, response, score, parts, problem, printed } = row
  return (
    <tr data-what={what}>
      <td className={`response ${proseClass(prompt)}`}>{shownText(prompt)}</td>
      <td>{what}</td>
      <td className={`response ${proseClass(response)}`}>
        {response === '' ? <>(nothing)</> : shownText(response)}
      </td>
      {names.map((name) => (
        <td key={name}>{parts[name] === undefined ? '–' : formatNumber(parts[name])}</td>
      ))}
      <td className="total" title={problem}>
        {formatNumber(score)}
        {problem === undefined ? null : <span className="problem"> {problem}</span>}
        {printed === undefined ? null : <pre data-testid="reward-printed">{printed}</pre>}
      </td>
    </tr>
  )
}

export function Trial({ experiment }: { readonly experiment: LabState['experiment'] }) {
  const tried = useTrial(experiment)
  if (tried.status === 'refused')
    return (
      <p className="problem" role="alert" data-testid="reward-refused">
        {tried.why}
      </p>
    )
  if (tried.status === 'trying')
    return (
      <p className="soft" role="status" data-testid="reward-trying">
        Trying it on nine answers … Python takes some seconds the first time.
      </p>
    )
  const names = [...new Set(tried.rows.flatMap(({ parts }) => Object.keys(parts)))]
  return (
    <div
      className="reward-trial-scroll"
      tabIndex={0}
      role="group"
      aria-label="Scores of nine answers"
    >
      <table className="reward-trial" data-testid="reward-trial">
        <caption>What it says of nine answers</caption>
        <thead>
          <tr>
            <th scope="col">problem</th>
            <th scope="col">answer</th>
            <th scope="col">response</th>
            {names.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col">reward</th>
          </tr>
        </thead>
        <tbody>
          {tried.rows.map((row) => (
            <Row key={`${row.prompt} ${row.what}`} {...{ row, names }} />
          ))}
        </tbody>
      </table>
    </div>
  )
}
