// Shows, under the choice of the task, what it asks, how it scores, and three of its problems.
import { useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { taskCard } from '../../document/experiment/task_card.ts'
import { shownText } from '../../host/protocol/token_text.ts'
import { type Contents, contentsStore } from '../../page/contents/here.ts'
import type { LabState } from '../../page/state/store.ts'
import { openData } from '../data/open_data.ts'
import { proseClass } from '../part/prose.ts'
import { useLab } from '../shown/run.ts'

const SHOWN = 3
const hasRows = ({ status }: Contents) => status === 'none' || status === 'here'
const selectTask = ({ experiment }: LabState) => experiment.task

/** What a short run of the task came to; the figures are loaded when the first task is shown. */
function useResult(id: string): string | undefined {
  const [text, setText] = useState<string>()
  useEffect(() => {
    let isWanted = true
    import('../../document/presets/task_results.ts').then(({ taskResult, resultText }) => {
      const result = taskResult(id)
      if (isWanted) setText(result && resultText(result))
    })
    return () => {
      isWanted = false
    }
  }, [id])
  return text
}

export function TaskSamples() {
  const task = useLab(selectTask)
  // Rows of a data set can be shown once its file was read.
  const count = useStore(contentsStore, hasRows) ? SHOWN : 0
  const { summary, partial_score, problems } = useMemo(() => taskCard(task, count), [task, count])
  const result = useResult(task.id)
  return (
    <div className="task-samples" data-testid="task-samples">
      <p className="soft help">
        {summary}
        {partial_score === undefined
          ? null
          : ` A wrong answer can score in part: ${partial_score}.`}
      </p>
      <table>
        <thead className="visually-hidden">
          <tr>
            <th scope="col">problem</th>
            <th scope="col">a right answer</th>
          </tr>
        </thead>
        <tbody>
          {problems.map(({ prompt, ground_truth }) => (
            <tr key={prompt}>
              <td className={`response ${proseClass(prompt)}`}>{shownText(prompt)}</td>
              <td className={`response ${proseClass(ground_truth)}`}>{shownText(ground_truth)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {result === undefined ? null : (
        <p className="soft help" data-testid="task-result">
          {result}
        </p>
      )}
      <button type="button" data-testid="open-data" onClick={() => openData()}>
        Train on your own data …
      </button>
    </div>
  )
}
