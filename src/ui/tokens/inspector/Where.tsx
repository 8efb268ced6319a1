// Says which step the inspector shows, and why it is not another.
import type { LabState } from '../../../page/state/store.ts'
import type { KeptOfRun } from '../../../record/run/kept_run.ts'
import { formatCount, formatDuration } from '../../kit/format.ts'
import { useKept } from '../../shown/rested.ts'
import { selectIsBusy, seriesOf, useLab } from '../../shown/run.ts'
import { useAtStep, usePresent } from '../../shown/shown.ts'
import { useLookedEnd, useStepName } from '../base/looked_end.ts'
import { readTrace, releaseTrace, type TokensView, tokensStore, useTokens } from '../base/view.ts'
import { traceCost } from './cost.ts'
import { untracedWords } from './says.ts'
import type { Shown, useShownStep } from './shown_responses.ts'

const selectLastStep = ({ step }: LabState) => step
const selectView = (view: TokensView) => view
const set = tokensStore.setState

function Cost({ step, kept }: { step: number; kept: KeptOfRun }) {
  const cost = traceCost(
    seriesOf('timing_s/step'),
    step,
    kept.traces.items.map((item) => item.step),
  )
  if (!cost) return null
  const time = (seconds: number) =>
    seconds < 10 ? `${seconds.toPrecision(2)} s` : formatDuration(seconds)
  return (
    <span className="trace-cost" data-testid="trace-cost">
      {' '}
      It took {time(cost.seconds)}, the steps before it without a trace {time(cost.usual)}.
    </span>
  )
}

type WhereProps = Omit<ReturnType<typeof useShownStep>, 'shown'> & { readonly shown: Shown }

/** Which step this is, and why it is not another. */
export function Where({ shown, newer, traced }: WhereProps) {
  const kept = useKept()
  const atStep = useAtStep()
  const { held, isTracingAlong } = useTokens(selectView)
  const newest = kept.traces.at(undefined)?.step
  const isBusy = useLab(selectIsBusy)
  const lastStep = usePresent(selectLastStep)
  // The run has taken steps since that nobody traced, and the page follows it.
  const isBehind = atStep === undefined && !isBusy && shown.step === newest && lastStep > newest
  const name = useStepName(shown.step)
  const isHeld = shown.isTraced && atStep === undefined && held?.kept === kept
  return (
    <p data-testid="inspected-step" data-step={shown.step}>
      <b>{name}</b>
      {shown.name === '' ? '' : `, ${shown.name}`}
      {atStep !== undefined && atStep !== shown.step
        ? `, the last one ${shown.isTraced ? 'traced' : 'kept'} up to step ${atStep}`
        : isBehind
          ? `, the last one traced of ${formatCount(lastStep)}`
          : ''}
      .
      <span className="soft">
        {shown.isTraced
          ? ''
          : untracedWords(
              isBusy && isTracingAlong,
              lastStep > 0 && !isBusy,
              kept.traces.items.length === 0,
            )}
        {isHeld && newest !== undefined && newest > shown.step
          ? ` It stays while you read; step ${newest} has been traced since.`
          : ''}
        {shown.isTraced ? <Cost step={shown.step} kept={kept} /> : null}
      </span>{' '}
      {isHeld && newest !== undefined && newest > shown.step ? (
        <button type="button" data-testid="release-trace" onClick={releaseTrace}>
          Show the newest
        </button>
      ) : null}
      {newer !== undefined ? (
        <button
          type="button"
          data-testid="newest-samples"
          aria-pressed={traced !== undefined}
          onClick={() => set({ newestSamplesOf: traced === undefined ? kept : undefined })}
        >
          {traced === undefined
            ? `Responses of step ${newer}, uncoloured`
            : `Back to the traced step ${traced}`}
        </button>
      ) : null}
    </p>
  )
}

/** That a step is none of the run: a look at its last state took it. */
export function LookSays({ step }: { readonly step: number }) {
  const kept = useKept()
  const end = useLookedEnd(step)
  if (end === undefined) return null
  const own = kept.traces.at(end)
  return (
    <p className="soft" data-testid="inspected-look">
      A look at the state after step {formatCount(end)}: the run ends there, and its responses were
      sampled on a copy.{' '}
      {own ? (
        <button type="button" data-testid="back-from-look" onClick={() => readTrace(kept, own)}>
          Back to step {formatCount(own.step)}
        </button>
      ) : null}
    </p>
  )
}
