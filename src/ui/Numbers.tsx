// The numbers of the moment. Each is the run's own, or a dash.
import { useStore } from 'zustand'
import { replayStore } from '../lab/replay.ts'
import { type LabState, labStore } from '../lab/store.ts'
import { formatCount, formatDuration, formatNumber, formatShare, NONE } from './format.ts'
import { greedyAccuracy, layerEntropy, REWARD, TASK_SCORE } from './metrics.ts'
import { selectIsReplaying } from './replay/replays.ts'
import {
  hasRewardPhase,
  plannedSteps,
  selectStatus,
  seriesOf,
  shownExperiment,
  useLab,
} from './run.ts'
import { type UiState, uiStore } from './store.ts'

const selectFrame = (state: UiState) => state.frame

const latest = (metric: string): number | undefined => {
  const columns = seriesOf(metric)
  return columns && columns.length > 0 ? columns.values[columns.length - 1] : undefined
}

const STATUS: Readonly<Record<LabState['status'], string>> = {
  loading: 'opening the GPU',
  idle: 'ready',
  preparing: 'preparing',
  running: 'training',
  paused: 'paused',
  waiting: 'waiting for your verdicts',
  finished: 'finished',
  failed: 'stopped by an error',
}

/** While a recording plays. */
const REPLAYED: Partial<Record<LabState['status'], string>> = {
  preparing: 'playing a recording',
  running: 'playing a recording',
  finished: 'the recording is over',
}

const selectHasSteps = (state: LabState) => state.series.size > 0
const selectMessage = (state: LabState) => state.message

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function Status() {
  const status = useLab(selectStatus)
  const message = useLab(selectMessage)
  const has_steps = useLab(selectHasSteps)
  const is_replaying = useStore(replayStore, selectIsReplaying)
  const moment =
    status === 'running' && !has_steps ? 'measuring the untrained model' : STATUS[status]
  return (
    <p className="status" data-testid="status" data-status={status} role="status">
      <span className={`dot ${status}`} aria-hidden="true" />
      {is_replaying ? (REPLAYED[status] ?? moment) : moment}
      {status === 'preparing' && message ? `: ${lowerFirst(message)}` : ''}
    </p>
  )
}

export function Numbers() {
  useStore(uiStore, selectFrame)
  const state = labStore.getState()
  const experiment = shownExperiment(state)
  const has_steps = selectHasSteps(state)
  const { steps_per_second, tokens_per_second, seconds_left } = state.timing
  const is_moving = state.status === 'running'
  const final_entropy = latest(layerEntropy(experiment.model.num_hidden_layers))
  return (
    <div className="numbers">
      <Status />
      <dl>
        <div>
          <dt>Step</dt>
          <dd>
            <span data-testid="step-count">{has_steps ? formatCount(state.step) : NONE}</span>
            <small> of {formatCount(plannedSteps(state))}</small>
          </dd>
        </div>
        <div>
          <dt>{hasRewardPhase(state) ? 'Task score, sampled' : 'Reward, sampled'}</dt>
          <dd data-testid="reward-value">
            {formatShare(latest(hasRewardPhase(state) ? TASK_SCORE : REWARD))}
          </dd>
        </div>
        <div>
          <dt>Held-out, greedy</dt>
          <dd data-testid="accuracy-value">
            {formatShare(latest(greedyAccuracy(experiment.task.id)))}
          </dd>
        </div>
        <div>
          <dt>Final entropy</dt>
          <dd data-testid="entropy-value">
            {formatNumber(final_entropy)}
            {final_entropy === undefined ? null : <small> nats</small>}
          </dd>
        </div>
        <div>
          <dt>Steps/s</dt>
          <dd data-testid="steps-per-second">{formatNumber(steps_per_second)}</dd>
        </div>
        <div>
          <dt>Tokens/s</dt>
          <dd data-testid="tokens-per-second">{formatCount(tokens_per_second)}</dd>
        </div>
        <div>
          <dt>Time left</dt>
          <dd data-testid="time-left">{formatDuration(is_moving ? seconds_left : undefined)}</dd>
        </div>
      </dl>
    </div>
  )
}
