// A model of a folder: what it is, a text that a person types, and what every layer says of it.
import { FolderOpen } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useStore } from 'zustand'
import { openedModelStore, readText } from '../../../lab/page/opened/opened_model.ts'
import type { OpenedModelFacts } from '../../../lab/protocol/opened_model.ts'
import { formatCount } from '../../base/format.ts'
import { chooseFile } from '../../palette/files.ts'
import { ReadModel } from './ReadModel.tsx'
import './model.css'

function Facts({ facts, adapter }: { facts: OpenedModelFacts; adapter: string }) {
  const { model_type, num_hidden_layers, hidden_size, vocab_size, num_parameters, dtype } = facts
  return (
    <p className="soft" data-testid="model-facts">
      {model_type}, {num_hidden_layers} layers of {formatCount(hidden_size)} channels,{' '}
      {formatCount(vocab_size)} tokens, {formatCount(num_parameters)} weights in {dtype}, computed
      in float32 on {facts.gpu || 'this GPU'}.
      {facts.has_adapter ? ` The adapter ${adapter} is merged into it.` : ''}
    </p>
  )
}

function TextForm({ facts, is_busy }: { facts: OpenedModelFacts; is_busy: boolean }) {
  const [text, setText] = useState('')
  const { why_ids } = facts
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    readText(text)
  }
  return (
    <form onSubmit={onSubmit} className="model-text">
      <label>
        <span>{why_ids === undefined ? 'Text' : 'Token ids'}</span>
        <input
          type="text"
          data-testid="model-text"
          spellCheck={false}
          autoComplete="off"
          placeholder={why_ids === undefined ? '' : '12 7 3'}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      <button type="submit" data-testid="model-read" disabled={is_busy || text === ''}>
        Read
      </button>
      {why_ids === undefined ? null : <small className="soft">{why_ids}</small>}
    </form>
  )
}

export function ModelView() {
  const { name, adapter, is_busy, facts, read, problem } = useStore(openedModelStore)
  return (
    <div className="model">
      <h2>{name === '' ? 'A model of a folder' : name}</h2>
      {facts ? <Facts facts={facts} adapter={adapter} /> : null}
      {problem === undefined ? null : (
        <p className="bad" role="alert" data-testid="model-problem">
          {problem}
        </p>
      )}
      <p role="status">{is_busy ? (facts ? 'Reading …' : 'Opening …') : ''}</p>
      {facts ? <TextForm facts={facts} is_busy={is_busy} /> : null}
      {facts && read ? (
        <ReadModel key={read.text} lens={read.lens} max_entropy={Math.log(facts.vocab_size)} />
      ) : null}
      <div className="model-ways">
        <button type="button" onClick={() => chooseFile(true)}>
          <FolderOpen className="icon" aria-hidden="true" />{' '}
          {facts ? 'Open another model, or an adapter of this one …' : 'Open a folder …'}
        </button>
      </div>
    </div>
  )
}
