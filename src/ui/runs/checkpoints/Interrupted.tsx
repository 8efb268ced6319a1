// Says what interrupted the current run: a lost GPU, a hung worker, checkpoints that cannot be
// kept.
import { Download, RefreshCcw, TriangleAlert, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useStore } from 'zustand'
import { brokenWords } from '../../../host/protocol/guard.ts'
import { resume } from '../../../page/client/controls.ts'
import { steer } from '../../../page/client/steering.ts'
import { type Library, libraryStore } from '../../../page/runs/library/library_store.ts'
import { type LabState, labStore } from '../../../page/state/store.ts'
import { lowerRates } from '../../../record/diagnosis/lower_rate.ts'
import { shownExperiment, useLab } from '../../shown/run.ts'
import { openTab, showToast } from '../../shown/store.ts'
import { download } from './continue_run.ts'
import { guardText, lossText, problemText } from './texts.ts'

const selectLoss = (state: LabState) => state.loss
const selectProblem = (state: LabState) => state.checkpoint_problem
const selectDiffers = (state: LabState) => state.restored?.differs
const selectStatus = (state: LabState) => state.status
const selectRun = (state: LabState) => state.run
const selectRecordProblem = (library: Library) => library.problem

function Notice(props: {
  readonly id: string
  readonly code: string
  readonly title: string
  readonly text: string
  /** What the browser said. */
  readonly message?: string | undefined
  readonly isUrgent?: boolean
  readonly children?: ReactNode
  onDismiss(): void
}) {
  const { id, code, title, text, message, isUrgent = false, children, onDismiss } = props
  const Icon = isUrgent ? TriangleAlert : RefreshCcw
  return (
    <section
      className={isUrgent ? 'card interrupted urgent' : 'card interrupted'}
      role={isUrgent ? 'alert' : 'status'}
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

const selectGuarded = (state: LabState) => state.guarded
const lowered = ({ runExperiment, phase }: LabState) =>
  runExperiment ? lowerRates(runExperiment, phase) : []
const selectRates = (state: LabState) =>
  lowered(state)
    .map(({ action, from }) => `${action.path} ${from} → ${action.value}`)
    .join(', ')

/** Continues after broken steps, from the last sound state, with lower learning rates. */
function goOnSlower(): void {
  for (const { action } of lowered(labStore.getState())) {
    const refused = steer(action)
    if (refused !== undefined) return showToast(refused)
  }
  resume()
}

/** The run waits where its numbers were sound: what broke, and how to continue. */
function Guarded() {
  const guarded = useLab(selectGuarded)
  const status = useLab(selectStatus)
  const rates = useLab(selectRates)
  if (!guarded || status !== 'paused') return null
  return (
    <section className="card interrupted urgent" role="alert" data-testid="guarded">
      <TriangleAlert className="icon" aria-hidden="true" />
      <div>
        <h2>The numbers broke, and the run went back</h2>
        <p>{guardText(guarded)}</p>
        <ul>
          {guarded.broken.map((broken) => (
            <li key={broken.step}>{brokenWords(broken)}</li>
          ))}
        </ul>
        <button type="button" data-testid="go-on-slower" onClick={goOnSlower}>
          Continue with half the learning rate
        </button>
        {rates === '' ? null : <p className="soft">{rates}</p>}
      </div>
    </section>
  )
}

/** Each until it is dismissed, or something new has happened. */
export function Interrupted() {
  const loss = useLab(selectLoss)
  const problem = useLab(selectProblem)
  const differs = useLab(selectDiffers)
  const run = useLab(selectRun)
  const recordProblem = useStore(libraryStore, selectRecordProblem)
  const [dismissed, setDismissed] = useState<readonly unknown[]>([])
  const dismiss = (what: unknown) => setDismissed((before) => [...before.slice(-8), what])
  // The same sentence of another run is another one.
  const ofRun = `${run} ${differs}`
  return (
    <>
      <Guarded />
      {loss && !dismissed.includes(loss) ? (
        <Notice
          id="loss"
          code={loss.is_blocked ? 'blocked' : loss.is_waiting ? 'waiting' : loss.what}
          {...lossText(loss)}
          message={loss.message}
          isUrgent={loss.is_waiting}
          onDismiss={() => dismiss(loss)}
        />
      ) : null}
      {differs !== undefined && !dismissed.includes(ofRun) ? (
        <Notice
          id="differs"
          code="differs"
          title="Not the same machine"
          text={differs}
          onDismiss={() => dismiss(ofRun)}
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
      {recordProblem !== '' &&
      problem?.code !== 'full' && // which says the same
      !dismissed.includes(recordProblem) ? (
        <Notice
          id="record-problem"
          code="record"
          title="What is known of runs cannot be written"
          text={recordProblem}
          onDismiss={() => dismiss(recordProblem)}
        >
          <button type="button" onClick={() => openTab('runs')}>
            See the runs
          </button>
        </Notice>
      ) : null}
    </>
  )
}
