// A model that writes: a conversation through its own template, or a text that it continues. Every token shows its entropy, and a press on
// one asks every layer about it.
import { type FormEvent, useState } from 'react'
import { useStore } from 'zustand'
import {
  cancelModel,
  lookBack,
  openedModelStore,
  writeText,
} from '../../../lab/page/opened/opened_model.ts'
import type {
  ChatTurn,
  OpenedModelFacts,
  WritingSettings,
  WrittenPart,
} from '../../../lab/protocol/opened_model.ts'
import { tokenSign, tokenWords } from '../../../lab/protocol/token_text.ts'
import { formatNats, formatShare } from '../../base/format.ts'
import { shadeOf } from '../../base/shades.ts'
import { Shades } from '../inspector/Legend.tsx'

const FIRST: WritingSettings = { temperature: 0.7, top_p: 1, top_k: 0, max_tokens: 128, seed: 1 }

/** Ranges of the settings. */
const FIELDS = [
  { name: 'temperature', label: 'temperature', min: 0, max: 5, step: 0.1 },
  { name: 'top_p', label: 'top_p', min: 0.01, max: 1, step: 0.01 },
  { name: 'top_k', label: 'top_k (0 = all)', min: 0, max: 100_000, step: 1 },
  { name: 'max_tokens', label: 'tokens at most', min: 1, max: 512, step: 1 },
  { name: 'seed', label: 'seed', min: 0, max: 2 ** 31 - 1, step: 1 },
] as const

interface SettingsProps {
  readonly settings: WritingSettings
  readonly onChange: (settings: WritingSettings) => void
}

function Settings({ settings, onChange }: SettingsProps) {
  return (
    <div className="chat-settings">
      {FIELDS.map(({ name, label, min, max, step }) => (
        <label key={name}>
          <span>{label}</span>
          <input
            type="number"
            {...{ min, max, step }}
            data-testid={`chat-${name}`}
            value={settings[name]}
            onChange={({ target }) => {
              const value = target.valueAsNumber
              if (value >= min && value <= max) onChange({ ...settings, [name]: value })
            }}
          />
        </label>
      ))}
    </div>
  )
}

interface PartsProps {
  readonly parts: readonly WrittenPart[]
  readonly max_entropy: number
  readonly is_done: boolean
}

/** The tokens of the answer: dark where the model was certain. */
function Parts({ parts, max_entropy, is_done }: PartsProps) {
  return (
    <p className="chat-parts" data-testid="chat-parts">
      {parts.map(({ token, prob, entropy }, i) => {
        const shade = shadeOf(entropy / max_entropy)
        const title = `${formatShare(prob)}, entropy ${formatNats(entropy)}`
        return (
          <button
            // Tokens have no other identity than their place.
            key={i}
            type="button"
            className={`response ${shade === undefined ? '' : `seq-${shade}`}`}
            title={title}
            aria-label={`${tokenWords(token)}, ${title}`}
            data-entropy={entropy}
            disabled={!is_done}
            onClick={() => lookBack(i)}
          >
            {tokenSign(token)}
          </button>
        )
      })}
    </p>
  )
}

const ROLES = { system: 'System', user: 'You', assistant: 'Model' } as const

function Turns({ turns }: { turns: readonly ChatTurn[] }) {
  return turns.map(({ role, content }, i) => (
    // Turns have no other identity than their place.
    <p key={i} className={`chat-turn chat-${role}`}>
      <b>{ROLES[role]}</b> {content}
    </p>
  ))
}

export function Chat({ facts, is_busy }: { facts: OpenedModelFacts; is_busy: boolean }) {
  const written = useStore(openedModelStore, (state) => state.written)
  const [settings, setSettings] = useState(FIRST)
  const [is_raw, setIsRaw] = useState(!facts.has_template)
  const [text, setText] = useState('')
  // What was said before the answer that is shown, and that answer.
  const before: readonly ChatTurn[] = written?.messages
    ? [...written.messages, { role: 'assistant', content: written.text }]
    : []
  const is_writing = written !== undefined && !written.is_done
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (is_raw) return writeText({ text }, settings)
    writeText({ messages: [...before, { role: 'user', content: text }] }, settings)
    setText('')
  }
  return (
    <section className="chat" aria-label="Write with the model">
      <Shades />
      <h3>Write with it</h3>
      {facts.has_template ? (
        <label className="model-check">
          <input
            type="checkbox"
            data-testid="chat-raw"
            checked={is_raw}
            onChange={({ target }) => setIsRaw(target.checked)}
          />
          <span>continue the text as it is, without the model’s chat template</span>
        </label>
      ) : (
        <small className="soft">
          The folder has no chat template, so the model continues a text.
        </small>
      )}
      {written?.messages ? <Turns turns={written.messages} /> : null}
      {written ? (
        <>
          <p className="chat-turn chat-assistant" data-testid="chat-answer" aria-live="polite">
            <b>{ROLES.assistant}</b> {written.text}
          </p>
          <Parts
            parts={written.parts}
            max_entropy={Math.log(facts.vocab_size)}
            is_done={written.is_done}
          />
        </>
      ) : null}
      <form onSubmit={onSubmit} className="model-text">
        <label>
          <span>{is_raw ? 'Text to continue' : 'Message'}</span>
          <textarea
            rows={2}
            data-testid="chat-text"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        {is_writing ? (
          <button type="button" data-testid="chat-stop" onClick={cancelModel}>
            Stop
          </button>
        ) : (
          <button type="submit" data-testid="chat-send" disabled={is_busy || text === ''}>
            {is_raw ? 'Continue' : 'Send'}
          </button>
        )}
      </form>
      <Settings settings={settings} onChange={setSettings} />
    </section>
  )
}
