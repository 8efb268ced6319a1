// Opens the model of a run, to write with it and to look into it.
import { Pencil } from 'lucide-react'
import { useStore } from 'zustand'
import { replayStore } from '../../../page/state/replay.ts'
import type { LabState } from '../../../page/state/store.ts'
import { useLab } from '../../shown/run.ts'
import { openedStore, useOpenedEntry } from '../opened_run.ts'
import { selectIsReplaying } from '../replays.ts'

/** Loaded when it is asked for: few visitors write with a run. */
const open = async (record: string, step?: number) =>
  (await import('./run_model.ts')).writeWithRun(record, step)

interface WriteWithItProps {
  readonly record: string
  /** Without one the run as it is now, or was last. */
  readonly step?: number
  /** The one thing to do next. */
  readonly isPrimary?: boolean
}

export function WriteWithIt({ record, step, isPrimary = false }: WriteWithItProps) {
  return (
    <button
      type="button"
      className={isPrimary ? 'primary' : undefined}
      data-testid="write-with"
      aria-haspopup="dialog"
      title="Opens this model: let it continue a text, read one with every layer, steer it"
      onClick={() => void open(record, step)}
    >
      <Pencil className="icon" aria-hidden="true" /> Write with it
    </button>
  )
}

/** Before its first step a run is the model that it began with. */
const selectRecord = ({ record, step }: LabState) => (step > 0 ? record : '')

/** The shown run; '' where that has no weights here: a recording, an imported log. */
export function useWritable(): string {
  const isPast = useStore(openedStore, ({ opened }) => opened !== undefined)
  const entry = useOpenedEntry()
  const living = useLab(selectRecord)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  if (isPast) return entry?.header.source ? '' : (entry?.id ?? '')
  return isReplaying ? '' : living
}

/** Of the shown run, where it can be written with. */
export function WriteWithShown({ isPrimary = false }: { readonly isPrimary?: boolean }) {
  const record = useWritable()
  return record === '' ? null : <WriteWithIt record={record} isPrimary={isPrimary} />
}
