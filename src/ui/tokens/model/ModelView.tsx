// Draws models that a person opened: what they are, what every layer says of a text, and what they
// write.
import { useState } from 'react'
import { useStore } from 'zustand'
import type { ModelPlace, OpenedModelFacts } from '../../../host/protocol/opened_model.ts'
import {
  cancelModel,
  closeSecond,
  keepModel,
  openedModelStore,
} from '../../../page/opened/opened_model.ts'
import { formatBytes, formatCount, formatDuration } from '../../kit/format.ts'
import { closeDialog } from '../../open/dialogs.ts'
import { AskedProblem } from './chat/AskedProblem.tsx'
import { Chat } from './chat/Chat.tsx'
import { learnedAnswers } from './learned_answers.ts'
import { MemoryPlan } from './MemoryPlan.tsx'
import { OpenWays } from './OpenWays.tsx'
import { ReadModels } from './ReadModel.tsx'
import { AsShipped, ShippedRow } from './ShippedModels.tsx'
import { saveOpened } from './save_opened.ts'
import { learnFromOpened, trainOpened } from './train_opened.ts'
import './model.css'

interface FactsProps {
  readonly facts: OpenedModelFacts
  readonly place: ModelPlace
  readonly canKeep: boolean
}

function Facts({ facts, place, canKeep }: FactsProps) {
  const { model_type, num_hidden_layers, hidden_size, vocab_size, num_parameters, dtype } = facts
  const name = place === 'first' ? undefined : facts.name
  return (
    <div className="model-facts">
      <p className="soft" data-testid={place === 'first' ? 'model-facts' : 'model-facts-second'}>
        {name === undefined ? '' : `Beside it ${name}: `}
        {model_type}, {num_hidden_layers} layers of {formatCount(hidden_size)} channels,{' '}
        {formatCount(vocab_size)} tokens, {formatCount(num_parameters)} weights in {dtype}, computed
        in float32 on {facts.gpu || 'this GPU'}, {formatBytes(facts.gpu_bytes)} of its memory.
        {facts.adapter === '' ? '' : ` The adapter ${facts.adapter} is merged into it.`}{' '}
        <span title={facts.hash}>{facts.hash.slice(0, 'sha256-'.length + 8)}…</span>
      </p>
      {canKeep && !facts.is_kept && !facts.is_steered ? (
        <button type="button" data-testid="model-keep" onClick={() => keepModel(place)}>
          Keep in this browser
        </button>
      ) : null}
      {place === 'second' ? (
        <button type="button" onClick={closeSecond}>
          Close it
        </button>
      ) : null}
    </div>
  )
}

/** Vectors are trained on where they were made. */
const SteeredUses = () => (
  <p className="soft" data-testid="model-steered">
    The steering vectors of its run are added at every token. No file of a model holds such vectors,
    so this model is neither kept nor trained here. To save the vectors or to train them further,
    open the run and go to “What does a direction do?” in Inside.
  </p>
)

/** The first model as the beginning of a run, or as a folder. */
function Uses({ facts: { adapter, uses } }: { facts: OpenedModelFacts }) {
  const full = uses.find(({ what }) => what === 'full')
  const [wantsAdapter, setWantsAdapter] = useState(full?.why_not !== undefined)
  // What it takes to look into it is no plan any more: it stands above, as it was measured.
  const trainings = uses.filter(
    ({ what }) => what === 'lora' || (what === 'full' && adapter === ''),
  )
  return (
    <section className="model-uses" aria-label="Train it">
      <h3>Train it</h3>
      <div className="model-ways-row">
        <button
          type="button"
          data-testid="model-train"
          onClick={() => trainOpened(adapter !== '' || wantsAdapter)}
        >
          Train from it
        </button>
        <button
          type="button"
          data-testid="model-teach"
          title="As the teacher of a phase of distillation"
          onClick={learnFromOpened}
        >
          Use it as a teacher
        </button>
        <button type="button" data-testid="model-save" onClick={saveOpened}>
          Save as a folder (.zip)
        </button>
      </div>
      {adapter === '' ? (
        <label className="model-check">
          <input
            type="checkbox"
            data-testid="model-lora"
            checked={wantsAdapter}
            onChange={({ target }) => setWantsAdapter(target.checked)}
          />
          <span>with LoRA (r 8) in place of all weights</span>
        </label>
      ) : null}
      <p className="soft">
        The settings get its sizes, and you choose the rows to train on next. The model itself stays
        as it is.
      </p>
      <MemoryPlan uses={trainings} />
    </section>
  )
}

const DOING = {
  fetching: 'Fetching',
  keeping: 'Keeping',
  reading: 'Reading',
  writing: 'Writing',
} as const

/** How far it is, how fast, how long still; and the button that ends it. */
function Progress({ hasFacts }: { hasFacts: boolean }) {
  const progress = useStore(openedModelStore, (state) => state.progress)
  const isBusy = useStore(openedModelStore, (state) => state.isBusy)
  const isMaking = useStore(openedModelStore, (state) => state.isMaking)
  const isWriting = useStore(openedModelStore, ({ written }) => written?.is_done === false)
  if (isMaking) return <p role="status">Waiting for the state of the run …</p>
  // What is written shows how far it is, and ends it.
  if (!isBusy || isWriting) return <p role="status">{isWriting ? 'Writing …' : ''}</p>
  const left =
    progress && Number.isFinite(progress.seconds_left) ? progress.seconds_left : undefined
  return (
    <div className="model-progress">
      <p role="status" data-testid="model-progress">
        {progress
          ? `${DOING[progress.doing]} ${formatBytes(progress.bytes)} of ${formatBytes(progress.of)} in all` +
            (left === undefined
              ? ''
              : `, ${formatBytes(progress.bytes_per_second)} a second, ${formatDuration(left)} left`)
          : hasFacts
            ? 'Reading …'
            : 'Opening …'}
      </p>
      {progress ? (
        <progress max={progress.of} value={progress.bytes} aria-label="Progress" />
      ) : null}
      <button type="button" data-testid="model-cancel" onClick={cancelModel}>
        Stop
      </button>
    </div>
  )
}

export function ModelView() {
  const { name, isBusy, facts, read, problem, askedBy, kept, firstTry } = useStore(openedModelStore)
  const { first, second } = facts
  const canKeep = kept?.can_keep ?? false
  // Who asked a model that is gone is gone as well.
  const isOfModel = askedBy === 'text' || askedBy === 'writing' || askedBy === 'uses'
  const isSaidBelow = isOfModel ? first !== undefined : askedBy !== undefined
  return (
    <div className="model">
      <div className="dialog-head">
        <h2>{first?.name ?? (name === '' ? 'Open a model' : name)}</h2>
        <button type="button" onClick={() => closeDialog('model')}>
          Close
        </button>
      </div>
      {first || name !== '' ? null : (
        <p className="soft">
          See what every layer of a language model says of a text, write with the model, or train
          it, on this machine. The page uploads nothing.
        </p>
      )}
      {first ? <AsShipped hash={first.hash} /> : null}
      {problem === undefined || isSaidBelow ? null : (
        <p className="bad model-problem" role="alert" data-testid="model-problem">
          {problem}
        </p>
      )}
      <div className="model-doing">
        <Progress hasFacts={first !== undefined} />
      </div>
      {first ? <Chat key={first.hash} facts={first} isBusy={isBusy} /> : null}
      {read ? (
        <ReadModels
          key={read.text}
          text={read.text}
          isOwn={first !== undefined && learnedAnswers(first, firstTry)}
          readings={read.readings}
          facts={facts}
        />
      ) : null}
      {first?.is_steered ? <SteeredUses /> : null}
      {first ? (
        // Who writes with the model of a run has come for the text above.
        <details className="model-more" open={firstTry?.experiment === undefined}>
          <summary>Train it, save it, and what it is</summary>
          {first.is_steered ? null : <Uses key={`uses ${first.hash}`} facts={first} />}
          <section className="model-about" aria-label="What it is">
            <h3>What it is</h3>
            <Facts facts={first} place="first" canKeep={canKeep} />
            {second ? <Facts facts={second} place="second" canKeep={canKeep} /> : null}
            <ShippedRow isBusy={isBusy} open={first.hash} />
          </section>
          <AskedProblem by={['uses']} />
        </details>
      ) : null}
      <OpenWays hasModel={first !== undefined} />
    </div>
  )
}
