// Draws the numbers of a run. Each is the run's own, or a dash; those that no run has yet take no
// room.
import { type Estimate, estimatorStore } from '../../../page/paces/estimator.ts'
import type { LabState } from '../../../page/state/store.ts'
import { formatCount, formatEntropy, formatNumber, formatSteps, NONE } from '../../kit/format.ts'
import type { PanelProps } from '../../part/Panels.tsx'
import { mainMeasure, toldWords } from '../../shown/measure/main_measure.ts'
import { isShareIn } from '../../shown/measure/score_share.ts'
import { finalEntropy, LOGGED_ENTROPY, REWARD, TASK_SCORE } from '../../shown/metrics.ts'
import { measuredIn, writtenRun } from '../../shown/readout.ts'
import { hasRewardPhase, plannedSteps } from '../../shown/run.ts'
import { numberText } from '../../shown/run_words.ts'
import { isImported } from '../../shown/shown.ts'
import { foreignMeans } from '../scores/foreign_lines.ts'
import { estimateDuration } from './estimate.ts'
import { shortDuration, steadied, type Told } from './steady_time.ts'

const selectHasSteps = (state: LabState) => state.series.size > 0

/** Whether the words on how the run is say more than that it trains. On a phone the numbers leave
 * them their room only then: else they are a sign alone. */
const saysMore = (state: LabState) =>
  state.isPausing || (state.status === 'running' && state.step >= plannedSteps(state))

/** What the rest takes where no phase of its kind has run yet, as earlier runs or a probe say;
 * undefined where they say less than this run's own steps. */
function expectedLeft({ adapter, runExperiment, step, timing }: LabState): Estimate | undefined {
  const { estimate } = estimatorStore.getState()
  const found = adapter && runExperiment && estimate(adapter, runExperiment, step)
  return found && found.seconds > (timing.left.seconds ?? 0) ? found : undefined
}

/** '50 s', '4 min': what is about so long has no seconds beside its minutes. */
const inMinutes = (seconds: number): string =>
  shortDuration(seconds < 60 ? seconds : 60 * Math.round(seconds / 60))

let told: Told | undefined

/** Seconds of the run that is on, without the jumps of its newest steps. `isLeast`: more is to
 * come. */
function steady(state: LabState, seconds: number, isLeast: boolean): number {
  const of = `${state.run} ${plannedSteps(state)} ${isLeast}`
  // Between two phases no step has arrived.
  const atMs = state.arrivals.at(-1)?.at_ms ?? (told?.of === of ? told.atMs : 0)
  told = steadied(told, { of, atMs, seconds })
  return told.seconds
}

/** What is left of a run that is training: '3 min 10 s', 'about 4 min', 'over 2 min'. The words
 * above it are always the same. */
function leftWords(state: LabState): string {
  const { seconds, untimedSteps, isAbout } = state.timing.left
  // No phase of their kind has run yet.
  const expected = untimedSteps > 0 ? expectedLeft(state) : undefined
  if (expected) {
    const rest = steady(state, expected.seconds, false)
    return `about ${expected.isMeasured ? inMinutes(rest) : estimateDuration({ ...expected, seconds: rest })}`
  }
  if (seconds === undefined) return NONE
  const rest = steady(state, seconds, untimedSteps > 0)
  if (untimedSteps > 0) return `over ${shortDuration(rest, Math.floor)}`
  return isAbout ? `about ${inMinutes(rest)}` : shortDuration(rest)
}

/** The time that is left, beside the newest step of a run that is training. */
function TimeLeft({ isNewest }: { readonly isNewest: boolean }) {
  const state = writtenRun()
  // What is measured after the last step has no time of its own.
  const isShown = state.status === 'running' && isNewest && state.step < plannedSteps(state)
  const words = isShown ? leftWords(state) : NONE
  return (
    <div className="time-left" hidden={!isShown}>
      <dt>Time left</dt>
      <dd
        data-testid="time-left"
        title={
          words.startsWith('over')
            ? `The time of ${formatSteps(state.timing.left.untimedSteps)} is not known yet`
            : undefined
        }
      >
        {words}
      </dd>
    </div>
  )
}

/** Speeds are of the moment: a step that is over has none. */
function Speeds({ isNewest }: { readonly isNewest: boolean }) {
  const { steps_per_second, tokens_per_second } = writtenRun().timing
  const now = (value: number | undefined) => (isNewest ? value : undefined)
  return (
    <>
      <div className="speed" hidden={now(steps_per_second) === undefined}>
        <dt>Steps / s</dt>
        <dd data-testid="steps-per-second">{formatNumber(now(steps_per_second))}</dd>
      </div>
      <div className="speed" hidden={now(tokens_per_second) === undefined}>
        <dt>Tokens/s</dt>
        <dd data-testid="tokens-per-second">{formatCount(now(tokens_per_second))}</dd>
      </div>
    </>
  )
}

/** Of which step a number is that the shown one has not measured: a score on held-out problems,
 * say, is taken every few steps. */
function Carried({ metric, shown }: { readonly metric: string | undefined } & PanelProps) {
  const columns = metric === undefined ? undefined : writtenRun().series.get(metric)
  const found = measuredIn([columns], shown.step)
  if (!found || found.step === shown.step) return null
  return <small className="of-step"> step {formatCount(found.step)}</small>
}

/** Which held-out answers a number is of: decoded greedily, or of one of a log's evaluations. */
function Which({ isGreedy, data = '' }: { isGreedy: boolean; data: string | undefined }) {
  if (isGreedy) return <span className="detail">, greedy</span>
  return data === '' ? null : <span className="detail">, {data}</span>
}

/** Beside `actor/entropy` there are two numbers of one policy: this says which it is. */
const FinalEntropy = ({ isLogged, rows }: { readonly isLogged: boolean; readonly rows: number }) =>
  isLogged ? (
    <dt>Entropy</dt>
  ) : (
    <dt
      title={`Of the final policy after the update, on up to ${rows} responses; actor/entropy is of all that was sampled, before it.`}
    >
      Final entropy
    </dt>
  )

export function RunNumbers({ shown }: PanelProps) {
  const { experiment, isNewest, metric } = shown
  const state = writtenRun()
  const hasSteps = selectHasSteps(state)
  const fromLog = isImported()
  const entropy = finalEntropy(experiment.model.num_hidden_layers, fromLog && state.series)
  const entropyValue = metric(entropy)
  const measure = mainMeasure(experiment)
  const isOwn = !fromLog || state.series.has(measure.metric)
  const [foreign] = isOwn ? [] : foreignMeans(state.series.keys())
  const heldOut = isOwn ? measure.metric : foreign?.metric
  // An accuracy of the lab's own is a share, whatever its reward.
  const heldOutIsShare = fromLog || measure.isReward ? undefined : true
  const told = toldWords(measure)
  const hasModel = hasRewardPhase(state)
  const reward = hasModel ? TASK_SCORE : REWARD
  const written = (name: string, isShare = isShareIn(state, name)) =>
    numberText(metric(name), isShare)
  /** A log is over: what it lacks never comes. */
  const lacks = (name: string | undefined) =>
    fromLog && (name === undefined || !state.series.has(name))
  return (
    <dl
      hidden={state.runExperiment === undefined}
      className={!hasSteps ? 'awaited' : saysMore(state) ? 'telling' : undefined}
    >
      <div className="step-number">
        <dt>Steps</dt>
        <dd>
          <span data-testid="step-count">{hasSteps ? formatCount(shown.step) : NONE}</span>
          <small className="of-all"> of {formatCount(plannedSteps(state))}</small>
          {isNewest ? null : (
            <small className="looking-back"> looking back from {formatCount(state.step)}</small>
          )}
        </dd>
      </div>
      <div className="reward-number" hidden={lacks(reward)}>
        <dt>
          {hasModel ? 'Task score' : 'Reward'}
          <span className="detail">, sampled</span>
        </dt>
        <dd data-testid="reward-value">
          {written(reward)}
          <Carried metric={reward} shown={shown} />
        </dd>
      </div>
      <div className="held-out-number" hidden={lacks(heldOut)}>
        <dt>
          Held-out
          {told === undefined ? null : (
            <span className="detail">
              {' '}
              <span>{told}</span>
            </span>
          )}
          <Which isGreedy={isOwn && told === undefined} data={foreign?.name} />
        </dt>
        <dd data-testid="accuracy-value">
          {heldOut === undefined ? NONE : written(heldOut, heldOutIsShare)}
          <Carried metric={heldOut} shown={shown} />
        </dd>
      </div>
      <Speeds isNewest={isNewest} />
      <TimeLeft isNewest={isNewest} />
      {/* The first to go where there is no room: the picture says it too. */}
      <div hidden={lacks(entropy)}>
        <FinalEntropy isLogged={entropy === LOGGED_ENTROPY} rows={experiment.probe.rows} />
        <dd data-testid="entropy-value">
          {formatEntropy(entropyValue)}
          {entropyValue === undefined ? null : <small> nats</small>}
          <Carried metric={entropy} shown={shown} />
        </dd>
      </div>
    </dl>
  )
}
