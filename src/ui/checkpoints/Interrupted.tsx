// What happened to the run that is on: a lost GPU, a hung worker, checkpoints that cannot be kept.
import { Download, RefreshCcw, TriangleAlert, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { LabState } from '../../lab/store.ts'
import { labStore } from '../../lab/store.ts'
import { shownExperiment, useLab } from '../run.ts'
import { download } from './going_on.ts'
import { lossText, problemText } from './texts.ts'

const selectLoss = (state: LabState) => state.loss
const selectProblem = (state: LabState) => state.checkpoint_problem
const selectDiffers = (state: LabState) => state.restored?.differs
const selectRun = (state: LabState) => state.run

function Notice(props: {
  readonly id: string
  readonly code: string
  readonly title: string
  readonly text: string
  /** What the browser said. */
  readonly message?: string | undefined
  readonly is_urgent?: boolean
  readonly children?: ReactNode
  onDismiss(): void
}) {
  const { id, code, title, text, message, is_urgent = false, children, onDismiss } = props
  const Icon = is_urgent ? TriangleAlert : RefreshCcw
  return (
    <section
      className={is_urgent ? 'card interrupted urgent' : 'card interrupted'}
      role={is_urgent ? 'alert' : 'status'}
      data-testid={id}
      data-code={code}
    >
      <Icon className="icon" aria-hidden="true" />
      <div>
        <h2>{title}</h2>
        <p>{text}</p>
        {message ? (
          <details>
            <summary>Message</summary>
            <code>{message}</code>
          </details>
        ) : null}
        {children}
      </div>
      <button type="button" className="plain" aria-label={`Dismiss: ${title}`} onClick={onDismiss}>
        <X className="icon" aria-hidden="true" />
      </button>
    </section>
  )
}

function DownloadNewest() {
  const save = () => {
    const state = labStore.getState()
    void download(state.record, shownExperiment(state))
  }
  return (
    <button type="button" data-testid="download-newest" onClick={save}>
      <Download className="icon" aria-hidden="true" /> Download the newest state
    </button>
  )
}

/** Each until it is dismissed, or something new has happened. */
export function Interrupted() {
  const loss = useLab(selectLoss)
  const problem = useLab(selectProblem)
  const differs = useLab(selectDiffers)
  const run = useLab(selectRun)
  const [dismissed, setDismissed] = useState<readonly unknown[]>([])
  const dismiss = (what: unknown) => setDismissed((before) => [...before.slice(-8), what])
  // The same sentence of another run is another one.
  const of_run = `${run} ${differs}`
  return (
    <>
      {loss && !dismissed.includes(loss) ? (
        <Notice
          id="loss"
          code={loss.is_blocked ? 'blocked' : loss.is_waiting ? 'waiting' : loss.what}
          {...lossText(loss)}
          message={loss.message}
          is_urgent={loss.is_waiting}
          onDismiss={() => dismiss(loss)}
        />
      ) : null}
      {differs !== undefined && !dismissed.includes(of_run) ? (
        <Notice
          id="differs"
          code="differs"
          title="Not the same machine"
          text={differs}
          onDismiss={() => dismiss(of_run)}
        />
      ) : null}
      {problem && !dismissed.includes(problem) ? (
        <Notice
          id="checkpoint-problem"
          code={problem.code}
          {...problemText(problem)}
          onDismiss={() => dismiss(problem)}
        >
          {problem.code === 'corrupt' ? null : <DownloadNewest />}
        </Notice>
      ) : null}
    </>
  )
}
