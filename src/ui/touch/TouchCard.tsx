// Draws the frame of an experiment on kept states of a run that is over: what it found in a
// sentence, how that misleads, and what starts it.

import type { ComponentType, ReactNode } from 'react'
import { useStore } from 'zustand'
import { Note } from '../glossary/Note.tsx'
import { t } from '../kit/translator.ts'
import { useRecordOver } from '../look/kept_states.ts'
import { useWhyBusy } from '../look/why_busy.ts'
import { Fold, firstSentence, type Opens } from '../part/Fold.tsx'
import { keyOf, type TouchKind, touchStore } from './touch_store.ts'
import './touch.css'

interface TouchCardProps {
  readonly id: string
  readonly title: string
  readonly what: TouchKind
  readonly record: string
  /** What was found; undefined before. */
  readonly says: string | undefined
  /** What is done, and how it misleads. */
  readonly note: string
  readonly action: string
  /** What a person must choose before it can start. */
  readonly missing?: string | undefined
  readonly onStart: () => void
  /** Which states. */
  readonly choices: ReactNode
  readonly opens?: Opens
  readonly children: ReactNode
}

const selectBusy = ({ busy }: ReturnType<typeof touchStore.getState>) => busy
const selectProblems = ({ problems }: ReturnType<typeof touchStore.getState>) => problems

export function TouchCard(props: TouchCardProps) {
  const { id, title, what, record, says, note, action, missing, opens } = props
  const { onStart, choices, children } = props
  const whyBusy = useWhyBusy()
  const busy = useStore(touchStore, selectBusy)
  const problem = useStore(touchStore, selectProblems).get(keyOf(record, what))
  const own = busy?.what === what && busy.record === record ? busy : undefined
  return (
    <Fold
      id={id}
      title={title}
      about={
        says ?? (
          <>
            {firstSentence(t(note))} <b>Open it and press “{action}” to measure it.</b>
          </>
        )
      }
      opens={opens}
    >
      <div className="touch">
        {says === undefined ? null : (
          <p className="figure-says" data-testid={`${id}-says`}>
            {says}
          </p>
        )}
        <Note text={note} />
        <div className="touch-choices">
          {choices}
          <button
            type="button"
            data-testid={`${id}-start`}
            disabled={whyBusy !== undefined || busy !== undefined || missing !== undefined}
            title={whyBusy ?? missing}
            onClick={onStart}
          >
            {own ? 'Answering …' : action}
          </button>
          <span role="status" className="soft" data-testid={`${id}-progress`}>
            {own && own.of > 0 ? `${own.done} of ${own.of}` : ''}
          </span>
        </div>
        {problem === undefined ? null : (
          <p className="bad" role="alert" data-testid={`${id}-problem`}>
            {problem}
          </p>
        )}
        {children}
      </div>
    </Fold>
  )
}

/** A card on the shown run: nothing while the run is on, or where no state of it is kept. */
export function overRecord<P extends object>(Card: ComponentType<P & { readonly record: string }>) {
  return function OverRecord(props: P) {
    const record = useRecordOver()
    return record === undefined ? null : <Card key={record} record={record} {...props} />
  }
}

/** A choice among kept states. */
export function StateChoice(props: {
  readonly id: string
  readonly label: string
  readonly steps: readonly number[]
  readonly value: number
  readonly onChange: (step: number) => void
}) {
  const { id, label, steps, value, onChange } = props
  return (
    <label>
      <span className="soft">{label}</span>{' '}
      <select
        data-testid={id}
        value={value}
        onChange={({ target }) => onChange(Number(target.value))}
      >
        {steps.map((step) => (
          <option key={step} value={step}>
            step {step.toLocaleString('en')}
          </option>
        ))}
      </select>
    </label>
  )
}
