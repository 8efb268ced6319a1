// Draws the one text that a person gives a model: the model answers through its own template or
// continues it, or every layer reads it.
import { type FormEvent, type ReactNode, useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import type {
  ChatTurn,
  OpenedModelFacts,
  WritingSettings,
} from '../../../../host/protocol/opened_model.ts'
import {
  cancelModel,
  type FirstTry,
  openedModelStore,
  readText,
  writeText,
} from '../../../../page/opened/opened_model.ts'
import type { LabState } from '../../../../page/state/store.ts'
import { useFirstTry } from '../../../open/models/known_models.ts'
import { useLab } from '../../../shown/run.ts'
import { Shades } from '../../base/Legend.tsx'
import { Answer } from './Answer.tsx'
import { AskedProblem, forgetProblem } from './AskedProblem.tsx'
import { answerTokens, type Judging } from './judged.ts'
import { afterPress } from './next_seed.ts'
import { Greedy, MOST_TOKENS, Settings } from './Settings.tsx'
import { SpecialTokens } from './SpecialTokens.tsx'
import { Steer } from './Steer.tsx'
import { shippedTasks } from './shipped_tasks.ts'
import { askedForm, FormHint, TaskForm } from './TaskForm.tsx'
import { typedStore } from './typed.ts'

const FIRST: WritingSettings = { temperature: 0.7, top_p: 1, top_k: 0, max_tokens: 128, seed: 1 }

/** Whether it answers through its template or continues a text. */
function RawChoice(props: { readonly isRaw: boolean; readonly onRaw: (isRaw: boolean) => void }) {
  return (
    <label className="model-check">
      <input
        type="checkbox"
        data-testid="chat-raw"
        checked={props.isRaw}
        onChange={({ target }) => props.onRaw(target.checked)}
      />
      <span>continue the text as it is, without the model’s chat template</span>
    </label>
  )
}

/** What is measured of a text beside what every layer says of it. */
interface Reading {
  readonly changes: boolean
  readonly parts: boolean
}

const READINGS = [
  ['changes', 'ΔH of attention and feed-forward, for twice the time'],
  ['parts', 'what each part does: the text is read once more without each of them'],
] as const

function ReadingChoice(props: {
  readonly reading: Reading
  readonly onChange: (reading: Reading) => void
}) {
  const { reading, onChange } = props
  return (
    <fieldset className="model-reading">
      <legend>Reading measures too</legend>
      {READINGS.map(([what, says]) => (
        <label key={what} className="model-check">
          <input
            type="checkbox"
            data-testid={`model-${what}`}
            checked={reading[what]}
            onChange={({ target }) => onChange({ ...reading, [what]: target.checked })}
          />
          <span>{says}</span>
        </label>
      ))}
    </fieldset>
  )
}

interface TextFormProps {
  readonly isRaw: boolean
  /** The model has no tokenizer. */
  readonly takesIds: boolean
  readonly text: string
  readonly onText: (text: string) => void
  readonly onSend: () => void
  readonly onRead: () => void
  readonly isWriting: boolean
  readonly isBusy: boolean
}

/** One text, and what can be done with it. */
function TextForm(props: TextFormProps) {
  const { text, isBusy, isRaw, takesIds } = props
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    props.onSend()
  }
  return (
    <form onSubmit={onSubmit} className="model-text">
      <label>
        <span>{takesIds ? 'Token ids' : isRaw ? 'Text' : 'Message'}</span>
        <textarea
          rows={2}
          data-testid="chat-text"
          spellCheck={false}
          placeholder={takesIds ? '12 7 3' : ''}
          value={text}
          onChange={({ target }) => props.onText(target.value)}
        />
      </label>
      {props.isWriting ? (
        <button type="button" data-testid="chat-stop" onClick={cancelModel}>
          Stop
        </button>
      ) : (
        <button
          type="submit"
          className="primary"
          data-testid="chat-send"
          disabled={isBusy || text === ''}
        >
          {isRaw ? 'Continue the text' : 'Send'}
        </button>
      )}
      <button
        type="button"
        data-testid="model-read"
        title="What every layer would say next, at every token of the text"
        disabled={isBusy || text === ''}
        onClick={props.onRead}
      >
        Read with every layer
      </button>
    </form>
  )
}

/** How it writes and reads: behind a fold where a press on a problem of its task is enough. */
function How({ isFolded, children }: { isFolded: boolean; children: ReactNode }) {
  if (!isFolded) return children
  return (
    <details className="chat-how" data-testid="chat-how">
      <summary>How it writes and reads</summary>
      {children}
    </details>
  )
}

const selectExperiment = ({ experiment }: LabState) => experiment

/** What is typed. Sent, it makes room for the next; what the model did not take comes back. */
function useMessage(begins: string) {
  const [text, setText] = useState(begins)
  const [sent, setSent] = useState('')
  const isRefused = useStore(
    openedModelStore,
    ({ problem, written }) => problem !== undefined && !written,
  )
  useEffect(() => {
    if (isRefused) setText((typed) => typed || sent)
  }, [isRefused, sent])
  const send = () => {
    setSent(text)
    setText('')
  }
  return { text, setText, send }
}

/** What a model learned to do: its run's task, or that of the settings that begin with it. */
function useJudging({ hash }: OpenedModelFacts, first: FirstTry): Judging | undefined {
  const chosen = useLab(selectExperiment)
  return first.experiment ?? (chosen.model.source === hash ? chosen : undefined)
}

/** What to begin with. */
const settingsFor = (first: FirstTry, experiment: Judging | undefined): WritingSettings => ({
  ...FIRST,
  // A task has a right answer, and the page's figures of it are greedy.
  ...((experiment || first.greedy) && { temperature: 0 }),
  max_tokens: Math.min(
    first.max_tokens ?? (experiment && answerTokens(experiment)) ?? FIRST.max_tokens,
    MOST_TOKENS,
  ),
})

export function Chat({ facts, isBusy }: { facts: OpenedModelFacts; isBusy: boolean }) {
  const written = useStore(openedModelStore, (state) => state.written)
  const first = useFirstTry(facts)
  const experiment = useJudging(facts, first)
  const form = useMemo(() => experiment && askedForm(experiment), [experiment])
  const tasks = useMemo(
    () => (experiment ? [experiment] : shippedTasks(facts.hash)),
    [experiment, facts.hash],
  )
  const [settings, setSettings] = useState(() => first.settings ?? settingsFor(first, experiment))
  const { has_template, why_ids, special_tokens } = facts
  const [isRaw, setIsRaw] = useState(!has_template || first.continues === true)
  const { text, setText, send } = useMessage(first.text ?? '')
  useEffect(() => typedStore.setState({ typed: { text, settings } }), [text, settings])
  const [add_special_tokens, setSpecial] = useState(true)
  const [reading, setReading] = useState<Reading>({ changes: false, parts: false })
  // What was said before the answer that is shown, and that answer.
  const before: readonly ChatTurn[] =
    written && 'messages' in written.asked
      ? [...written.asked.messages, { role: 'assistant', content: written.text }]
      : []
  const onSend = () => {
    setSettings(afterPress(settings))
    if (isRaw) return writeText({ text, add_special_tokens }, settings)
    writeText({ messages: [...before, { role: 'user', content: text }] }, settings)
    send()
  }
  return (
    <section className="chat" aria-label="Write with the model">
      <Shades />
      <h3>Write with it, or read with every layer</h3>
      {form ? <TaskForm form={form} onChoose={setText} /> : null}
      <TextForm
        isRaw={isRaw}
        takesIds={why_ids !== undefined}
        text={text}
        onText={(text) => {
          setText(text)
          forgetProblem(['text', 'writing'])
        }}
        onSend={onSend}
        onRead={() => readText(text, add_special_tokens, reading)}
        isWriting={written !== undefined && !written.is_done}
        isBusy={isBusy}
      />
      {form && why_ids === undefined ? <FormHint form={form} text={text} /> : null}
      {why_ids === undefined ? null : <small className="soft">{why_ids}</small>}
      {written ? <Answer {...{ written, facts, tasks }} /> : null}
      <AskedProblem by={['text', 'writing']} />
      <How isFolded={form !== undefined}>
        {has_template ? <RawChoice isRaw={isRaw} onRaw={setIsRaw} /> : null}
        {isRaw ? (
          <SpecialTokens words={special_tokens} isOn={add_special_tokens} onChange={setSpecial} />
        ) : null}
        <Greedy settings={settings} onChange={setSettings} />
        <Settings settings={settings} onChange={setSettings} />
        <ReadingChoice reading={reading} onChange={setReading} />
      </How>
      <Steer isBusy={isBusy} first={first.direction} />
    </section>
  )
}
